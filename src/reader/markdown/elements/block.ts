/** Plain block elements: a boundary before and after their content. */
import type { Enter, Leave } from '../state.ts';

const leaveBlock: Leave = (state) => state.flush();

export const block: Enter = (state) => {
  state.flush();
  return leaveBlock;
};
