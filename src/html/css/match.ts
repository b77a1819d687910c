/**
 * Matches one element against one complex selector, from its end to its start. Cheap if few elements are candidates,
 * such as those with the class at the end. Every step is counted; if the step limit is reached, callers use
 * `select.ts`, which takes linear time for any selector. Elements are identified by their numbers in a `PageIndex`.
 */

import type { PseudoSelector, Selector } from 'css-what';
import { ownValue } from '#own-value.ts';
import { ELEMENT, type Element, type Parent } from '../node.ts';
import {
  createAttributeTest,
  type ElementTest,
  LIVE_PSEUDO_CLASSES,
  PSEUDO_CLASSES,
  parseNth,
  type SiblingCounts,
  type TestContext,
} from '../selector-tests.ts';
import type { PageIndex } from './page-index.ts';

type Combinator = ' ' | '>' | '+' | '~';
type NumberTest = (number: number) => boolean;

interface Compound {
  readonly tests: NumberTest[];
  /** Combinator to the previous compound in the selector; null for the first. */
  readonly combinator: Combinator | null;
}

export interface ComplexSelector {
  /** From the last to the first. */
  readonly compounds: readonly Compound[];
  /** CSS specificity: ids, classes and names in one number. */
  readonly specificity: number;
  /** A superset of the elements that match, in document order. */
  readonly candidates: readonly number[];
}

const COMBINATORS: Readonly<Record<string, Combinator>> = {
  descendant: ' ',
  child: '>',
  adjacent: '+',
  sibling: '~',
};

const ID = 1_000_000;
const CLASS = 1_000;
const MAX_NESTING = 4;
const SELECTOR_LISTS = new Set(['is', 'where', 'not', 'matches', '-webkit-any']);

interface Simple {
  readonly test: NumberTest;
  readonly specificity: number;
}

/** Matches selectors against the elements of one page. */
export class Matcher {
  /** Number of steps left. */
  readonly work = { left: 0 };
  private readonly page: PageIndex;
  private readonly allNumbers: readonly number[];
  private readonly at: TestContext;
  private readonly places = new Map<Parent, Map<Element, SiblingCounts>>();

  constructor(page: PageIndex, root: Parent) {
    this.page = page;
    this.allNumbers = page.all.map((_, number) => number);
    const siblings = () => this.siblings(this.at.element);
    this.at = {
      element: null as unknown as Element,
      get siblings() {
        return siblings();
      },
      scope: root,
      results: new Uint8Array(0),
      has: [],
      work: this.work,
    };
  }

  /** Compiles a parsed selector; null if this matcher does not support it. */
  compile(tokens: readonly Selector[], depth = 0): ComplexSelector | null {
    const compounds: Compound[] = [{ tests: [], combinator: null }];
    /** For each compound, the shortest candidate list of its parts. */
    const few = [this.allNumbers];
    let specificity = 0;
    for (const token of tokens) {
      const combinator = ownValue(COMBINATORS, token.type);
      if (combinator) {
        compounds.push({ tests: [], combinator });
        few.push(this.allNumbers);
        continue;
      }
      const simple = this.simple(token, depth);
      if (!simple) return null;
      compounds.at(-1)!.tests.push(simple.test);
      specificity += simple.specificity;
      const mark = markOf(token);
      const marked = mark === null ? this.allNumbers : this.page.withMark(mark);
      if (marked.length < few.at(-1)!.length) few[few.length - 1] = marked;
    }
    if (compounds.some(({ tests }) => tests.length === 0)) return null;
    compounds.reverse();
    return { compounds, specificity, candidates: depth > 0 ? [] : this.candidates(compounds, few.reverse()) };
  }

  /** The candidates of the last compound, restricted to descendants of the candidates of an earlier one. */
  private candidates(compounds: readonly Compound[], few: readonly (readonly number[])[]): readonly number[] {
    let around = this.allNumbers;
    for (let at = 1; at < few.length; at++) {
      const { combinator } = compounds[at - 1]!;
      if (combinator !== ' ' && combinator !== '>') break;
      if (few[at]!.length < around.length) around = few[at]!;
    }
    const last = few[0]!;
    return around.length < last.length ? this.page.descendantsOf(last, around) : last;
  }

  private simple(token: Selector, depth: number): Simple | null {
    switch (token.type) {
      case 'universal':
        return { test: () => true, specificity: 0 };
      case 'tag':
      case 'attribute': {
        if (token.type === 'attribute' && token.action === 'not') return null;
        const mark = markOf(token)!;
        const specificity = token.type === 'tag' ? 1 : mark.startsWith('#') ? ID : CLASS;
        if (token.type === 'attribute' && mark.startsWith('[') && token.action !== 'exists') {
          return { test: this.elementTest(createAttributeTest(token)), specificity };
        }
        const flags = this.page.flagsOf(mark);
        return { test: (number) => flags[number] === 1, specificity };
      }
      case 'pseudo':
        return this.pseudo(token, depth);
      default:
        return null;
    }
  }

  private pseudo({ name, data }: PseudoSelector, depth: number): Simple | null {
    if (Array.isArray(data))
      return SELECTOR_LISTS.has(name) && depth < MAX_NESTING ? this.list(name, data, depth) : null;
    if (typeof data === 'string') {
      const holds = /^nth-(?:last-)?(?:child|of-type)$/.test(name) ? parseNth(data) : null;
      if (!holds) return null;
      const ofType = name.endsWith('type');
      const place = ofType ? 'typeIndex' : 'index';
      const test: ElementTest = name.startsWith('nth-last')
        ? ({ siblings }) => holds(siblings.total(ofType) - siblings[place] + 1)
        : ({ siblings }) => holds(siblings[place]);
      return { test: this.elementTest(test), specificity: CLASS };
    }
    if (Object.hasOwn(PSEUDO_CLASSES, name)) {
      return { test: this.elementTest(PSEUDO_CLASSES[name]!), specificity: CLASS };
    }
    return LIVE_PSEUDO_CLASSES.has(name) ? { test: () => false, specificity: CLASS } : null;
  }

  private list(name: string, data: readonly Selector[][], depth: number): Simple | null {
    const list: ComplexSelector[] = [];
    for (const tokens of data) {
      const complex = this.compile(tokens, depth + 1);
      if (!complex) return null;
      list.push(complex);
    }
    const specificity = name === 'where' ? 0 : Math.max(0, ...list.map((complex) => complex.specificity));
    const wanted = name !== 'not';
    return { test: (number) => list.some((complex) => this.matches(number, complex)) === wanted, specificity };
  }

  private elementTest(test: ElementTest): NumberTest {
    const { at, page } = this;
    return (number) => {
      at.element = page.all[number]!;
      return test(at);
    };
  }

  /**
   * Whether an element matches. Backtracks to another ancestor or sibling where a combinator allows several. If the
   * step limit is reached, the remaining elements do not match.
   */
  matches(start: number, { compounds }: ComplexSelector): boolean {
    /** The elements currently chosen for the compounds. */
    const taken: number[] = [];
    let candidate = start;
    while (this.work.left-- > 0) {
      const index = taken.length;
      if (candidate < 0) {
        const last = taken.pop();
        if (last === undefined || taken.length === 0) return false;
        candidate = this.nextCandidate(last, compounds[taken.length - 1]!.combinator);
      } else if (compounds[index]!.tests.every((test) => test(candidate))) {
        if (index === compounds.length - 1) return true;
        taken.push(candidate);
        candidate = this.firstCandidate(candidate, compounds[index]!.combinator);
      } else candidate = index === 0 ? -1 : this.nextCandidate(candidate, compounds[index - 1]!.combinator);
    }
    return false;
  }

  /** The first candidate that a combinator allows; -1 if there is none. */
  private firstCandidate(number: number, combinator: Combinator | null): number {
    const { parents, previous } = this.page;
    return (combinator === ' ' || combinator === '>' ? parents : previous)[number]!;
  }

  /** The next candidate that the combinator allows. */
  private nextCandidate(number: number, combinator: Combinator | null): number {
    if (combinator === ' ') return this.page.parents[number]!;
    return combinator === '~' ? this.page.previous[number]! : -1;
  }

  /** Positions of an element among its siblings, computed on first use. */
  private siblings(element: Element): SiblingCounts {
    const { parent } = element;
    let places = parent && this.places.get(parent);
    if (!places) {
      places = new Map();
      const ofType = new Map<string, number>();
      let count = 0;
      for (let node = parent ? parent.first : element; node; node = parent ? node.next : null) {
        if (node.type !== ELEMENT) continue;
        const type = `${node.namespace} ${node.name}`;
        const typeIndex = (ofType.get(type) ?? 0) + 1;
        ofType.set(type, typeIndex);
        count++;
        const total = (byType: boolean) => (byType ? ofType.get(type)! : count);
        places.set(node, { parent, index: count, typeIndex, counts: [], add: () => {}, total });
      }
      if (parent) this.places.set(parent, places);
    }
    return places.get(element)!;
  }
}

/** The key under which the page's elements are indexed; null if there is none. */
function markOf(token: Selector): string | null {
  if (token.type === 'tag') return token.name.toLowerCase();
  if (token.type !== 'attribute') return null;
  if (token.ignoreCase === 'quirks') {
    if (token.name === 'class' && token.action === 'element') return `.${token.value}`;
    if (token.name === 'id' && token.action === 'equals') return `#${token.value}`;
  }
  return `[${token.name.toLowerCase()}`;
}
