/** A thematic break. */
import { type Enter, SKIP } from '../state.ts';

export const rule: Enter = (state) => {
  state.flush();
  if (state.singleLine === 0) state.blocks.write(state.options.hr);
  return SKIP;
};
