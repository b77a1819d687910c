/**
 * Unique CSS selectors for the elements of a document. They are recorded before the tree is changed, so that
 * selectors are still available for removed elements.
 */
import { attribute, type Document, ELEMENT, type Element, elements } from './node.ts';

export interface UniqueSelectors {
  /**
   * A selector that matched only this element when the document was recorded. Null for an element that was not in the
   * document then, or if the selector would exceed 2,000 characters or 32 steps.
   */
  selectorOf(element: Element): string | null;
}

const MAX_SELECTOR_CHARACTERS = 2_000;
/** The maximum that select.ts supports; browsers support more. */
const MAX_STEPS = 32;

/** Represents the document above all elements. */
const DOCUMENT_ROOT = -1;

/** Records the positions of all elements, in time and space linear in the document. */
export function recordUniqueSelectors(document: Document): UniqueSelectors {
  const { numbers, all, names, parents, ends, indexAmongAll, indexAmongSameName, childrenByName, marks } =
    indexDocument(document);

  /**
   * The highest element that contains no other element with this mark; DOCUMENT_ROOT if the document contains no other.
   */
  function exclusiveScopeOf(mark: string, number: number): number {
    const numbersWithMark = marks.get(mark.toLowerCase());
    const at = numbersWithMark ? indexOf(numbersWithMark, number) : 0;
    // The element got this mark later.
    if (numbersWithMark?.[at] !== number) return number;
    const before = numbersWithMark[at - 1] ?? DOCUMENT_ROOT;
    const after = numbersWithMark[at + 1] ?? Number.POSITIVE_INFINITY;
    if (before === DOCUMENT_ROOT && after === Number.POSITIVE_INFINITY) return DOCUMENT_ROOT;
    let scope = number;
    for (let above = parents[number]!; above >= 0; above = parents[above]!) {
      if (before > above || after < ends[above]!) break;
      scope = above;
    }
    return scope;
  }

  /** The last step to an element, and the ancestor from which that step starts. */
  function stepTo(number: number): Step {
    const element = all[number]!;
    const parent = parents[number]!;
    let best: Step | null = null;
    const name = names[number]!;
    for (const mark of marksOf(element, name)) {
      const from = exclusiveScopeOf(mark, number);
      if (from === DOCUMENT_ROOT) return { from, step: mark };
      if (from < parent && (best === null || from < best.from)) best = { from, step: ` ${mark}` };
    }
    if (best) return best;
    if (!PLAIN_NAME.test(name)) return { from: parent, step: ` > :nth-child(${indexAmongAll[number]})` };
    const isAlone = childrenByName.get(`${parent} ${name}`) === 1;
    return { from: parent, step: ` > ${name}${isAlone ? '' : `:nth-of-type(${indexAmongSameName[number]})`}` };
  }

  /** Selectors computed so far, including those of ancestors; null if they exceed the limits. */
  const locations = new Map<number, Location | null>([[DOCUMENT_ROOT, { selector: '', steps: 0 }]]);

  function locate(number: number): Location | null {
    const path: (Step & { readonly number: number })[] = [];
    for (let at = number; !locations.has(at); ) {
      const step = stepTo(at);
      path.push({ number: at, ...step });
      at = step.from;
    }
    for (const { number: at, from, step } of path.reverse()) {
      const base = locations.get(from)!;
      const location = base && { selector: base.selector + step, steps: base.steps + 1 };
      locations.set(
        at,
        location && location.steps <= MAX_STEPS && location.selector.length <= MAX_SELECTOR_CHARACTERS
          ? location
          : null,
      );
    }
    return locations.get(number)!;
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
interface DocumentIndex {
  readonly numbers: ReadonlyMap<Element, number>;
  readonly all: readonly Element[];
  /** Names at the time of recording; later steps rename elements. */
  readonly names: readonly string[];
  readonly parents: readonly number[];
  /** For each element, one past its last descendant. */
  readonly ends: readonly number[];
  /** Position among all siblings, and among those with the same name; from 1. */
  readonly indexAmongAll: readonly number[];
  readonly indexAmongSameName: readonly number[];
  /** Number of children with a certain name, by the element's number and the name. */
  readonly childrenByName: ReadonlyMap<string, number>;
  /** Elements by mark. Marks are in lower case, because ids and classes are case-insensitive in quirks mode. */
  readonly marks: ReadonlyMap<string, readonly number[]>;
}

function indexDocument(document: Document): DocumentIndex {
  const numbers = new Map<Element, number>();
  const all: Element[] = [];
  const names: string[] = [];
  const parents: number[] = [];
  const ends: number[] = [];
  const indexAmongAll: number[] = [];
  const indexAmongSameName: number[] = [];
  const children: number[] = [];
  const childrenByName = new Map<string, number>();
  const marks = new Map<string, number[]>();
  for (const element of elements(document)) {
    const number = all.length;
    const parent = element.parent?.type === ELEMENT ? numbers.get(element.parent)! : DOCUMENT_ROOT;
    numbers.set(element, number);
    all.push(element);
    names.push(element.name);
    parents.push(parent);
    children.push(0);
    ends.push(number + 1);
    indexAmongAll.push(parent === DOCUMENT_ROOT ? 1 : ++children[parent]!);
    const kind = `${parent} ${element.name}`;
    const index = (childrenByName.get(kind) ?? 0) + 1;
    childrenByName.set(kind, index);
    indexAmongSameName.push(index);
    for (const mark of marksOf(element, element.name)) {
      const key = mark.toLowerCase();
      const numbersWithMark = marks.get(key);
      if (!numbersWithMark) marks.set(key, [number]);
      else if (numbersWithMark.at(-1) !== number) numbersWithMark.push(number);
    }
  }
  for (let number = all.length - 1; number > 0; number--) {
    const parent = parents[number]!;
    if (parent >= 0) ends[parent] = Math.max(ends[parent]!, ends[number]!);
  }
  return { numbers, all, names, parents, ends, indexAmongAll, indexAmongSameName, childrenByName, marks };
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
const PLAIN_IDENTIFIER = /^[a-zA-Z_][\w-]*$/;
const QUOTABLE = /^[\x20-\x7e]+$/;
const MAX_NAME_CHARACTERS = 60;

/** Selectors that may match an element alone, from the most specific: its id, its name, its classes. */
function marksOf(element: Element, elementName: string): string[] {
  const found: string[] = [];
  const id = attribute(element, 'id');
  if (id && id.length <= MAX_NAME_CHARACTERS) {
    if (PLAIN_IDENTIFIER.test(id)) found.push(`#${id}`);
    else if (QUOTABLE.test(id) && !/["\\]/.test(id)) found.push(`[id="${id}"]`);
  }
  const name = PLAIN_NAME.test(elementName) ? [elementName] : [];
  const isSpecific = elementName !== 'div' && elementName !== 'span';
  if (isSpecific) found.push(...name);
  for (const word of (attribute(element, 'class') ?? '').split(/[\t\n\f\r ]+/)) {
    if (word.length <= MAX_NAME_CHARACTERS && PLAIN_IDENTIFIER.test(word)) found.push(`.${word}`);
  }
  if (!isSpecific) found.push(...name);
  return found;
}
