/** Quotes: block quotes after `> `, and short ones between quotation marks. */
import { ELEMENT, TEXT } from '#html/node.ts';
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

/** The source at the end of a block quote is a paragraph of its own; elsewhere it is part of the sentence. */
export const cite: EnterHandler = (state, element) => {
  const { parent } = element;
  if (parent?.type !== ELEMENT || parent.name !== 'blockquote' || state.singleLine > 0) return null;
  for (let node = element.next; node; node = node.next) if (node.type !== TEXT || /\S/.test(node.value)) return null;
  state.flush();
  return null;
};

const leaveInlineQuote: LeaveHandler = (state) => state.inline.raw('"');

export const inlineQuote: EnterHandler = (state, element) => {
  if (!element.first) return null;
  state.inline.text('"');
  return leaveInlineQuote;
};
