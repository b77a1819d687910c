/** Elements without text of their own: scripts, styles, controls, drawings, fallbacks. */
import { type Enter, SKIP } from '../state.ts';

export const skip: Enter = () => SKIP;
