/** Bold, italic and struck text. */
import type { SpanKind } from '../delimiters.ts';
import type { ConversionState, EnterHandler, LeaveHandler } from '../state.ts';

const leaveMark: LeaveHandler = (state) => state.inline.close();

/** Elements that have a meaning when nested. Any other mark is omitted inside a mark of the same kind. */
const NESTING: ReadonlySet<string> = new Set(['em', 'strong']);
const MAX_NESTING = 3;

function isRedundant({ inline }: ConversionState, kind: SpanKind, name: string): boolean {
  if (!inline.isOpen(kind)) return false;
  const names = inline.openNames(kind);
  return !NESTING.has(name) || names.length >= MAX_NESTING || names.some((outer) => outer !== name);
}

const mark =
  (kind: SpanKind): EnterHandler =>
  (state, { name }) => {
    if ((kind === 'strike' && !state.gfm) || isRedundant(state, kind, name)) return null;
    state.inline.open({ kind, name });
    return leaveMark;
  };

export const em = mark('em');
export const strong = mark('strong');
export const strike = mark('strike');
