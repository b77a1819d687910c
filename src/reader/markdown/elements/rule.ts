/** A thematic break. */
import { type EnterHandler, SKIP } from '../state.ts';

/** After a list marker with the same character, the whole line would be a rule. */
const otherThan = (hr: string): string => (hr.startsWith('*') ? '---' : '* * *');

export const rule: EnterHandler = (state) => {
  state.flush();
  if (state.singleLine === 0) {
    const { hr } = state.options;
    state.blocks.announce('rule');
    state.blocks.write(state.blocks.isBehindMarker(hr[0]!) ? otherThan(hr) : hr);
  }
  return SKIP;
};
