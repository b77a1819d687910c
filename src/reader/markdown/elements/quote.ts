/** Quotes: block quotes after `> `, and short ones between quotation marks. */
import type { EnterHandler, LeaveHandler } from '../state.ts';

const leaveQuote: LeaveHandler = (state) => {
  state.flush();
  state.blocks.pop();
};

export const blockquote: EnterHandler = (state) => {
  state.flush();
  if (state.singleLine > 0) return null;
  state.blocks.announce('quote');
  state.blocks.push('> ', '> ');
  return leaveQuote;
};

const leaveInlineQuote: LeaveHandler = (state) => state.inline.raw('"');

export const inlineQuote: EnterHandler = (state, element) => {
  if (!element.first) return null;
  state.inline.text('"');
  return leaveInlineQuote;
};
