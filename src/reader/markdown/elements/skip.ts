/** Elements without text of their own: scripts, styles, controls, drawings, fallbacks. */
import { type EnterHandler, SKIP } from '../state.ts';

export const skip: EnterHandler = () => SKIP;
