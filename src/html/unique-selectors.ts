/**
 * Unique CSS selectors for the elements of a document. Places are recorded before the tree is changed, so that
 * selectors are still available for removed elements.
 */
import { attribute, type Document, ELEMENT, type Element, elements } from './node.ts';

export interface UniqueSelectors {
  /**
   * The selector that matches only this element in the document as it was when the places were recorded. Null for an
   * element that was not in it, and if the selector would exceed 2,000 characters or 32 steps.
   */
  selectorOf(element: Element): string | null;
}

const LONGEST_SELECTOR = 2_000;
/** The limit of select.ts; browsers support more. */
const MOST_STEPS = 32;

/** Stands for the document above all elements. */
const TOP = -1;

/** Records the places of all elements, in time and space linear in the document. */
export function recordUniqueSelectors(document: Document): UniqueSelectors {
  const { numbers, all, parents, ends, ofAll, ofName, alike, marks } = survey(document);

  /** The highest element that contains no other element with a mark: TOP if the whole document has no other. */
  function reachOf(mark: string, number: number): number {
    const places = marks.get(mark.toLowerCase())!;
    const at = indexOf(places, number);
    const before = places[at - 1] ?? TOP;
    const after = places[at + 1] ?? Number.POSITIVE_INFINITY;
    if (before === TOP && after === Number.POSITIVE_INFINITY) return TOP;
    let reach = number;
    for (let above = parents[number]!; above >= 0; above = parents[above]!) {
      if (before > above || after < ends[above]!) break;
      reach = above;
    }
    return reach;
  }

  /** The last step to an element, and the ancestor that the step starts from. */
  function stepTo(number: number): Step {
    const element = all[number]!;
    const parent = parents[number]!;
    let best: Step | null = null;
    for (const mark of marksOf(element)) {
      const from = reachOf(mark, number);
      if (from === TOP) return { from, step: mark };
      if (from < parent && (best === null || from < best.from)) best = { from, step: ` ${mark}` };
    }
    if (best) return best;
    const { name } = element;
    if (!PLAIN_NAME.test(name)) return { from: parent, step: ` > :nth-child(${ofAll[number]})` };
    const isAlone = alike.get(`${parent} ${name}`) === 1;
    return { from: parent, step: ` > ${name}${isAlone ? '' : `:nth-of-type(${ofName[number]})`}` };
  }

  /** Selectors computed so far, including those of ancestors; null if they exceed the limits. */
  const known = new Map<number, Location | null>([[TOP, { selector: '', steps: 0 }]]);

  function locate(number: number): Location | null {
    const path: (Step & { readonly number: number })[] = [];
    for (let at = number; !known.has(at); ) {
      const step = stepTo(at);
      path.push({ number: at, ...step });
      at = step.from;
    }
    for (const { number: at, from, step } of path.reverse()) {
      const base = known.get(from)!;
      const location = base && { selector: base.selector + step, steps: base.steps + 1 };
      known.set(
        at,
        location && location.steps <= MOST_STEPS && location.selector.length <= LONGEST_SELECTOR ? location : null,
      );
    }
    return known.get(number)!;
  }

  return {
    selectorOf(element) {
      const number = numbers.get(element);
      return number === undefined ? null : (locate(number)?.selector ?? null);
    },
  };
}

interface Step {
  readonly from: number;
  readonly step: string;
}

interface Location {
  readonly selector: string;
  readonly steps: number;
}

/** The elements in document order; an element's number is its index. */
interface Survey {
  readonly numbers: ReadonlyMap<Element, number>;
  readonly all: readonly Element[];
  readonly parents: readonly number[];
  /** For each element, one past its last descendant. */
  readonly ends: readonly number[];
  /** Position among all siblings, and among those with the same name; from 1. */
  readonly ofAll: readonly number[];
  readonly ofName: readonly number[];
  /** Number of children with a given name, by the element's number and the name. */
  readonly alike: ReadonlyMap<string, number>;
  /** Elements by mark, in lower case: in quirks mode ids and classes match in any case. */
  readonly marks: ReadonlyMap<string, readonly number[]>;
}

function survey(document: Document): Survey {
  const numbers = new Map<Element, number>();
  const all: Element[] = [];
  const parents: number[] = [];
  const ends: number[] = [];
  const ofAll: number[] = [];
  const ofName: number[] = [];
  const children: number[] = [];
  const alike = new Map<string, number>();
  const marks = new Map<string, number[]>();
  for (const element of elements(document)) {
    const number = all.length;
    const parent = element.parent?.type === ELEMENT ? numbers.get(element.parent)! : TOP;
    numbers.set(element, number);
    all.push(element);
    parents.push(parent);
    children.push(0);
    ends.push(number + 1);
    ofAll.push(parent === TOP ? 1 : ++children[parent]!);
    const kind = `${parent} ${element.name}`;
    const place = (alike.get(kind) ?? 0) + 1;
    alike.set(kind, place);
    ofName.push(place);
    for (const mark of marksOf(element)) {
      const key = mark.toLowerCase();
      const places = marks.get(key);
      if (!places) marks.set(key, [number]);
      else if (places.at(-1) !== number) places.push(number);
    }
  }
  for (let number = all.length - 1; number > 0; number--) {
    const parent = parents[number]!;
    if (parent >= 0) ends[parent] = Math.max(ends[parent]!, ends[number]!);
  }
  return { numbers, all, parents, ends, ofAll, ofName, alike, marks };
}

/** Index of a number in an ascending list that contains it. */
function indexOf(list: readonly number[], number: number): number {
  let low = 0;
  let high = list.length - 1;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (list[middle]! < number) low = middle + 1;
    else high = middle;
  }
  return low;
}

const PLAIN_NAME = /^[a-z][a-z0-9-]*$/;
const PLAIN_WORD = /^[a-zA-Z_][\w-]*$/;
const QUOTABLE = /^[\x20-\x7e]+$/;
const LONGEST_NAME = 60;

/** Selectors that may match an element alone, the most specific first: its id, its name, its classes. */
function marksOf(element: Element): string[] {
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
