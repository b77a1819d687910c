/** Elements that are blocks and nothing more: a boundary before and after what they hold. */
import type { Enter, Leave } from '../state.ts';

const leaveBlock: Leave = (state) => state.flush();

export const block: Enter = (state) => {
  state.flush();
  return leaveBlock;
};
