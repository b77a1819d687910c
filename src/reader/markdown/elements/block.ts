/** Plain block elements: a block boundary before and after their content. */
import type { EnterHandler, LeaveHandler } from '../state.ts';

const leaveBlock: LeaveHandler = (state) => state.flush();

export const block: EnterHandler = (state) => {
  state.flush();
  return leaveBlock;
};
