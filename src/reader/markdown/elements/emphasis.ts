/** Bold, italic and struck text. A mark inside one of its kind says nothing new. */
import type { MarkKind } from '../inline.ts';
import type { Enter, Leave, State } from '../state.ts';

const leaveMark: Leave = (state) => state.inline.close();

const mark =
  (kind: MarkKind, delimiterOf: (state: State) => string | null): Enter =>
  (state) => {
    const delimiter = delimiterOf(state);
    if (delimiter === null || state.inline.isOpen(kind)) return null;
    state.inline.open({ kind, open: delimiter, close: delimiter });
    return leaveMark;
  };

export const em = mark('em', (state) => state.options.emDelimiter);
export const strong = mark('strong', (state) => state.options.strongDelimiter);
export const strike = mark('strike', (state) => (state.gfm ? '~~' : null));
