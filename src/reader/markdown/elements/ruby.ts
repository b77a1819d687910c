/** Ruby: the reading follows the base text in brackets, using the page's own brackets if it has any. */
import { ELEMENT, type Element } from '#html/node.ts';
import type { EnterHandler, LeaveHandler } from '../state.ts';

const leaveReading: LeaveHandler = (state) => state.inline.text(')');

const isBracket = (node: Element['prev']): boolean => node?.type === ELEMENT && node.name === 'rp';

export const rubyText: EnterHandler = (state, element) => {
  let before = element.prev;
  while (before && before.type !== ELEMENT) before = before.prev;
  if (!element.first || isBracket(before)) return null;
  state.inline.text('(');
  return leaveReading;
};
