/**
 * Where the elements of a document stand, as CSS selectors that find each of them and nothing else. Places are noted
 * before anything is moved or taken out, so that they can still be told when an element is gone.
 */
import { attribute, type Document, ELEMENT, type Element, elements } from './node.ts';

export interface Places {
  /**
   * The selector that finds this element alone in the document as it was when the places were noted; null for an
   * element that was not in it, and for one whose selector would be longer than 2,000 characters.
   */
  selectorOf(element: Element): string | null;
}

const LONGEST_SELECTOR = 2_000;

/** Notes the places of all elements, in time and space linear in the document. */
export function notePlaces(document: Document): Places {
  const numbers = new Map<Element, number>();
  const parents: (Element | null)[] = [];
  const children: number[] = [];
  // The place among the siblings of one name, and among all siblings; from 1.
  const ofName: number[] = [];
  const ofAll: number[] = [];
  const named = new Map<string, number>();
  const anchors = new Map<string, number>();
  for (const element of elements(document)) {
    const number = numbers.size;
    const parent = element.parent?.type === ELEMENT ? element.parent : null;
    const above = parent ? numbers.get(parent)! : -1;
    numbers.set(element, number);
    parents.push(parent);
    children.push(0);
    ofAll.push(parent ? ++children[above]! : 1);
    ofName.push(count(named, `${above} ${element.name}`));
    for (const anchor of anchorsOf(element)) count(anchors, anchor.toLowerCase());
  }

  // In quirks mode ids and classes match in any case, so one that has a twin in another case is no anchor.
  const anchorOf = (element: Element): string | undefined =>
    anchorsOf(element).find((anchor) => anchors.get(anchor.toLowerCase()) === 1);

  function stepOf(element: Element, number: number): string {
    const { name } = element;
    const parent = parents[number];
    if (!parent) return name;
    if (!PLAIN_NAME.test(name)) return `:nth-child(${ofAll[number]})`;
    const alike = named.get(`${numbers.get(parent)} ${name}`);
    return alike === 1 ? name : `${name}:nth-of-type(${ofName[number]})`;
  }

  // Of elements that were asked for, and of those around them; null for what takes too many characters.
  const known = new Map<Element, string | null>();

  function selectorOf(element: Element): string | null {
    const way: Element[] = [];
    let at: Element | null = element;
    while (at && !known.has(at)) {
      if (!numbers.has(at)) return null;
      way.push(at);
      at = anchorOf(at) === undefined ? parents[numbers.get(at)!]! : null;
    }
    let selector: string | null = at ? known.get(at)! : '';
    for (const below of way.reverse()) {
      const step = anchorOf(below) ?? stepOf(below, numbers.get(below)!);
      if (selector !== null) selector += selector === '' ? step : ` > ${step}`;
      if (selector !== null && selector.length > LONGEST_SELECTOR) selector = null;
      known.set(below, selector);
    }
    return selector;
  }

  return { selectorOf };
}

function count<Key>(counts: Map<Key, number>, key: Key): number {
  const next = (counts.get(key) ?? 0) + 1;
  counts.set(key, next);
  return next;
}

const PLAIN_NAME = /^[a-z][a-z0-9-]*$/;
const PLAIN_WORD = /^[a-zA-Z_][\w-]*$/;
const QUOTABLE = /^[\x20-\x7e]+$/;
const LONGEST_NAME = 60;

/** Selectors that may find an element by itself, the most telling first: its id, its name, its classes. */
function anchorsOf(element: Element): string[] {
  const found: string[] = [];
  const id = attribute(element, 'id');
  if (id && id.length <= LONGEST_NAME) {
    if (PLAIN_WORD.test(id)) found.push(`#${id}`);
    else if (QUOTABLE.test(id) && !/["\\]/.test(id)) found.push(`[id="${id}"]`);
  }
  const name = PLAIN_NAME.test(element.name) ? [element.name] : [];
  const says = element.name !== 'div' && element.name !== 'span';
  if (says) found.push(...name);
  for (const word of (attribute(element, 'class') ?? '').split(/[\t\n\f\r ]+/)) {
    if (word.length <= LONGEST_NAME && PLAIN_WORD.test(word)) found.push(`.${word}`);
  }
  if (!says) found.push(...name);
  return found;
}
