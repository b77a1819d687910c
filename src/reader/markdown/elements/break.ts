/** A line break starts a new paragraph; on a single line it is a space (contract, 6.6). */
import { type Enter, SKIP } from '../state.ts';

export const lineBreak: Enter = (state) => {
  if (state.inline.isOpen('link')) state.inline.gap();
  else state.flush();
  return SKIP;
};
