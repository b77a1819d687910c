/** Buttons: a box of its own on the screen, so a space separates its label from the text beside it. */
import type { EnterHandler, LeaveHandler } from '../state.ts';

const leaveButton: LeaveHandler = (state) => state.inline.gap();

export const button: EnterHandler = (state) => {
  state.inline.gap();
  return leaveButton;
};
