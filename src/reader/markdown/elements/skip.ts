/** Elements that show nothing of their own as text: scripts, styles, controls, drawings, fallbacks. */
import { type Enter, SKIP } from '../state.ts';

export const skip: Enter = () => SKIP;
