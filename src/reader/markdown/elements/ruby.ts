/** Ruby: the reading in brackets after the base text, using the page's own brackets if it has them. */
import { ELEMENT, type Element } from '#html/node.ts';
import type { Enter, Leave } from '../state.ts';

const leaveReading: Leave = (state) => state.inline.text(')');

const isBracket = (node: Element['prev']): boolean => node?.type === ELEMENT && node.name === 'rp';

export const reading: Enter = (state, element) => {
  let before = element.prev;
  while (before && before.type !== ELEMENT) before = before.prev;
  if (!element.first || isBracket(before)) return null;
  state.inline.text('(');
  return leaveReading;
};
