/** Recognizes a page whose text waits for its scripts, and which parts of it to show in their place. */
import { attribute, type Child, ELEMENT, type Element } from '#html/node.ts';
import { HIDDEN_ATTRIBUTE } from '../../snapshot.ts';
import { isOrder } from './notable.ts';

/**
 * A page with fewer visible letters shows next to nothing: a title, a notice about cookies, "Loading". Such an answer
 * is worthless, so the hidden text of the page replaces it. On any other page, hidden text stays hidden.
 */
export const MAX_BARE_LETTERS = 200;
/** The least hidden text that can be the content of a page. Hidden instructions to models are shorter as a rule. */
export const MIN_WAITING_LETTERS = 600;
/** How pages hide what their scripts will show. Text without size or contrast waits for nothing and is never kept. */
export const WAITING = ['attribute', 'display', 'visibility', 'opacity'] as const;
/** The same as marked by the browser engine. */
const WAITING_MARKS = new Set(['display', 'visibility', 'opacity']);

/** Whether a hidden part may be content that scripts will show, and does not give orders to a model. */
export function mayWait(node: Child, kind: string): boolean {
  if (!WAITING.some((known) => known === kind)) return false;
  const mark = node.type === ELEMENT ? attribute(node, HIDDEN_ATTRIBUTE) : null;
  return (mark === null || WAITING_MARKS.has(mark)) && !isOrder(node);
}

const HIDING_ATTRIBUTES = new Set(['hidden', 'style', 'popover', HIDDEN_ATTRIBUTE]);

/** Removes what hides an element, because later steps judge it too. */
export function reveal(element: Element): void {
  element.attributes = element.attributes.filter(({ name }) => !HIDING_ATTRIBUTES.has(name));
}
