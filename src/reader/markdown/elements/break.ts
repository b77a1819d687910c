/**
 * A line break ends the line within its paragraph; two or more in a row separate paragraphs. In single-line mode and in
 * the text of a link, it becomes a space.
 */
import { type EnterHandler, SKIP } from '../state.ts';

export const lineBreak: EnterHandler = (state) => {
  const { inline, singleLine } = state;
  if (singleLine > 0 || inline.isOpen('link')) inline.gap();
  else if (inline.endsLine) state.flush();
  else if (!inline.empty) inline.lineBreak();
  return SKIP;
};
