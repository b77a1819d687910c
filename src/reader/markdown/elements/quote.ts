/** Quotes: block quotes after `> `, and short ones between quotation marks. */
import type { Enter, Leave } from '../state.ts';

const leaveQuote: Leave = (state) => {
  state.flush();
  state.blocks.pop();
};

export const blockquote: Enter = (state) => {
  state.flush();
  if (state.singleLine > 0) return null;
  state.blocks.follow('quote');
  state.blocks.push('> ', '> ');
  return leaveQuote;
};

const leaveInlineQuote: Leave = (state) => state.inline.raw('"');

export const inlineQuote: Enter = (state, element) => {
  if (!element.first) return null;
  state.inline.text('"');
  return leaveInlineQuote;
};
