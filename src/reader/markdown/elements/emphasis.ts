/** Bold, italic and struck text. */
import { attribute, type Element } from '#html/node.ts';
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

/** The value of a style that takes the mark away. Google Docs wraps whole documents in a `b` of normal weight. */
const NO_MARK = {
  strong: /(?:^|[;\s])font-weight\s*:\s*(?:normal|400)\b/i,
  em: /(?:^|[;\s])font-style\s*:\s*normal\b/i,
} as const;
const isUndone = (element: Element, kind: SpanKind): boolean => {
  const style = kind in NO_MARK ? attribute(element, 'style') : null;
  return style !== null && NO_MARK[kind as keyof typeof NO_MARK].test(style);
};

const mark =
  (kind: SpanKind): EnterHandler =>
  (state, element) => {
    const { name } = element;
    if (isUndone(element, kind)) return null;
    if ((kind === 'strike' && !state.gfm) || isRedundant(state, kind, name)) return null;
    state.inline.open({ kind, name });
    return leaveMark;
  };

export const em = mark('em');
export const strong = mark('strong');
export const strike = mark('strike');
