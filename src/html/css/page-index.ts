/**
 * The elements of a document, numbered in document order and indexed by the names in selectors, so that a rule only
 * examines elements that it may match.
 */
import { type Document, type Element, elements } from '../node.ts';
import { unescapeCss } from './declarations.ts';

const WHITE = /[\t\n\f\r ]+/;
const BRACKETED = /\[[^\]]*\]|\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)/g;
const NAMED = /[.#](?:[\w-]|[^\0-\x7f]|\\[0-9a-f]{1,6}\s?|\\.)+/gi;
const NOT_NOW =
  /::|:(?:before|after|first-line|first-letter|hover|focus|focus-visible|focus-within|active|visited|target)\b(?!\()/;
/** Classes that are removed once scripts run. They apply on a page where scripts were not run. */
const UNTIL_SCRIPTS = /^\.(?:no-?js|no-?javascript)$/i;

const NONE: readonly number[] = [];

export class PageIndex {
  readonly all: readonly Element[];
  /**
   * For each element, by number: its parent and its previous sibling (-1 for none), and one past its last descendant.
   */
  readonly parents: readonly number[];
  readonly previous: readonly number[];
  private readonly ends: readonly number[];
  /** Style attributes that refer to custom properties. */
  readonly variableStyles: string[] = [];
  /** Whether classes and ids are case-insensitive. */
  private readonly quirks: boolean;
  private readonly lists = new Map<string, number[]>();
  private readonly classLists = new Map<string, readonly number[][]>();
  private readonly flags = new Map<string, Uint8Array>();
  private hasAttributes = false;

  constructor(document: Document) {
    this.quirks = document.quirks;
    const all: Element[] = [];
    const parents: number[] = [];
    const previous: number[] = [];
    const ends: number[] = [];
    const open: number[] = [];
    let closed = -1;
    const close = () => {
      closed = open.pop()!;
      ends[closed] = all.length;
    };
    for (const element of elements(document)) {
      closed = -1;
      while (open.length > 0 && all[open.at(-1)!] !== element.parent) close();
      const number = all.length;
      all.push(element);
      parents.push(open.at(-1) ?? -1);
      previous.push(closed);
      ends.push(number + 1);
      open.push(number);
      this.indexElement(element, number);
    }
    while (open.length > 0) close();
    this.all = all;
    this.parents = parents;
    this.previous = previous;
    this.ends = ends;
  }

  /** The elements with a mark: `.class`, `#id`, `[attribute`, or a name in lower case. */
  withMark(mark: string): readonly number[] {
    if (mark.startsWith('[')) this.indexAttributes();
    return this.lists.get(this.folded(mark)) ?? NONE;
  }

  /** For each element, a flag that is not 0 if the element has the mark. */
  flagsOf(mark: string): Uint8Array {
    const key = this.folded(mark);
    let flags = this.flags.get(key);
    if (!flags) {
      flags = new Uint8Array(this.all.length);
      for (const number of this.withMark(mark)) flags[number] = 1;
      this.flags.set(key, flags);
    }
    return flags;
  }

  /** The elements of `list` that are descendants of an element of `holders`; both are in document order. */
  descendantsOf(list: readonly number[], holders: readonly number[]): number[] {
    const found: number[] = [];
    let past = 0;
    for (const holder of holders) {
      const end = this.ends[holder]!;
      if (end <= past) continue;
      for (let at = firstFrom(list, Math.max(holder + 1, past)); at < list.length && list[at]! < end; at++) {
        found.push(list[at]!);
      }
      past = end;
    }
    return found;
  }

  /**
   * Whether the page contains the names in a selector's text. This check is cheap; in case of doubt it returns true.
   */
  mayMatch(selector: string): boolean {
    const plain = /[[(]/.test(selector) ? selector.replace(BRACKETED, '') : selector;
    if (plain.includes(':') && NOT_NOW.test(plain)) return false;
    for (const found of plain.match(NAMED) ?? []) {
      const mark = unescapeCss(found);
      if (!this.lists.has(this.folded(mark)) || UNTIL_SCRIPTS.test(mark)) return false;
    }
    return true;
  }

  private indexElement(element: Element, number: number): void {
    this.add(element.name.toLowerCase(), number);
    for (const { name, value } of element.attributes) {
      if (name === 'id') this.add(this.folded(`#${value}`), number);
      else if (name === 'class') for (const list of this.listsOfClasses(value)) append(list, number);
      else if (name === 'style' && value.includes('var(')) this.variableStyles.push(value);
    }
  }

  /** The lists of the classes of a `class` attribute. Many elements have the same attribute. */
  private listsOfClasses(value: string): readonly number[][] {
    let lists = this.classLists.get(value);
    if (!lists) {
      const classes = value.split(WHITE).filter((word) => word !== '');
      lists = classes.map((word) => this.listOf(this.folded(`.${word}`)));
      this.classLists.set(value, lists);
    }
    return lists;
  }

  private indexAttributes(): void {
    if (this.hasAttributes) return;
    this.hasAttributes = true;
    for (const [number, element] of this.all.entries()) {
      for (const { name } of element.attributes) this.add(`[${name}`, number);
    }
  }

  private folded(mark: string): string {
    return this.quirks && (mark.startsWith('.') || mark.startsWith('#')) ? mark.toLowerCase() : mark;
  }

  private add(mark: string, number: number): void {
    append(this.listOf(mark), number);
  }

  private listOf(mark: string): number[] {
    let list = this.lists.get(mark);
    if (!list) {
      list = [];
      this.lists.set(mark, list);
    }
    return list;
  }
}

/** An element may have the same class twice. */
function append(list: number[], number: number): void {
  if (list[list.length - 1] !== number) list.push(number);
}

/** Index of the first number in an ascending list that is at least `least`. */
function firstFrom(list: readonly number[], least: number): number {
  let low = 0;
  let high = list.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (list[middle]! < least) low = middle + 1;
    else high = middle;
  }
  return low;
}
