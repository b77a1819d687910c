/**
 * CSS selectors over the tree of node.ts, in linear time for any selector and page. css-what parses the selector,
 * `selector-program.ts` compiles it to a program, and one walk in document order runs it, because a combinator depends
 * only on earlier elements. Only `:has()` looks ahead; it takes a separate backward walk.
 */
import { parse, type Selector } from 'css-what';
import { type Child, DOCUMENT, ELEMENT, type Element, elements, type Node, type Parent } from './node.ts';
import { type Chain, compilePrograms, type HasTest, SelectorError, type SelectorProgram } from './selector-program.ts';
import { createSiblingCounts, type SiblingCounts, type TestContext } from './selector-tests.ts';

export { SelectorError } from './selector-program.ts';

/** Compiled selectors, usable on any number of trees. */
export interface Selectors {
  readonly source: string;
  readonly programs: readonly SelectorProgram[];
}

const MAX_LENGTH = 8192;
/**
 * Maximum number of simple tests in one call. They take a few seconds; only an extreme selector on an extreme page
 * needs that many.
 */
const MAX_WORK = 50_000_000;

/**
 * Compiles a list of selectors, as `querySelectorAll` accepts them. Selectors that need a live page (`:hover`,
 * `::before`) match nothing. Throws SelectorError if the text is not a selector, or is too long or too deep.
 */
export function compileSelectors(css: string): Selectors {
  if (css.length > MAX_LENGTH) throw new SelectorError(`The selector is longer than ${MAX_LENGTH} characters`);
  let parsed: Selector[][];
  try {
    parsed = parse(css);
  } catch (cause) {
    throw new SelectorError(`Invalid selector: ${(cause as Error).message}`, { cause });
  }
  if (parsed.length === 0) throw new SelectorError('The selector is empty');
  return { source: css, programs: compilePrograms(parsed, css.includes('\\')) };
}

/**
 * The elements under `root`, without `root`, that match any of the selectors, in document order. As in the DOM, the
 * compounds before the last one may match anywhere in the tree that contains `root`.
 */
export function selectAll(root: Node, selectors: Selectors): Element[] {
  const top = topOf(root);
  const work: Work = { left: MAX_WORK };
  const found = new Set<Element>();
  for (const program of selectors.programs) run(program, top, root, work, (element) => found.add(element));
  if (top === root && selectors.programs.length === 1) return [...found];
  const ordered: Element[] = [];
  for (const element of elements(root)) if (found.has(element)) ordered.push(element);
  return ordered;
}

/** Whether an element matches. Walks the whole tree around the element, so use `selectAll` for many elements. */
export function matches(element: Element, selectors: Selectors): boolean {
  const top = topOf(element);
  const work: Work = { left: MAX_WORK };
  let found = false;
  for (const program of selectors.programs) {
    run(program, top, top, work, (candidate) => {
      found ||= candidate === element;
    });
  }
  return found;
}

interface Work {
  left: number;
}

/** The document of an element, or the topmost element of a tree without a document. */
function topOf(node: Node): Node {
  let top = node;
  while (top.type !== DOCUMENT && top.parent) top = top.parent;
  return top;
}

/**
 * One bit for each program step that is not the last of its chain: bit n is set where the chain matches up to step n.
 */
type Marks = number;

/** State of one parent while its children are walked. */
interface Level {
  siblings: SiblingCounts;
  /** The marks of the parent, of all ancestors, of the previous sibling, and of all previous siblings. */
  parent: Marks;
  above: Marks;
  previous: Marks;
  before: Marks;
}

function run(program: SelectorProgram, top: Node, scope: Node, work: Work, onMatch: (element: Element) => void): void {
  const has = program.has.map((test) => elementsHaving(program, test, top, scope, work));
  walk(program, top, scope, has, work, (at) => {
    if (at.results[program.main]) onMatch(at.element);
  });
}

/** Visits every element of the tree in document order with the program's results for it. */
function walk(
  program: SelectorProgram,
  top: Node,
  scope: Node,
  has: TestContext['has'],
  work: Work,
  visit: (at: TestContext) => void,
): void {
  const at: TestContext = {
    element: null as unknown as Element,
    siblings: null as unknown as SiblingCounts,
    scope,
    results: new Uint8Array(program.lists.length),
    has,
    work,
  };
  const levels: Level[] = [];
  const open = (parent: Parent | null, marks: Marks, above: Marks): void => {
    const siblings = createSiblingCounts(parent, program.counters);
    levels.push({ siblings, parent: marks, above, previous: 0, before: 0 });
  };
  const enter = (element: Element, level: Level): Marks => {
    at.element = element;
    at.siblings = level.siblings;
    level.siblings.add(element);
    const marks = evaluate(program, at, level);
    visit(at);
    level.previous = marks;
    level.before |= marks;
    return marks;
  };

  // The top of a tree without a document is walked as an only child.
  let node: Child | null = top.type === DOCUMENT ? top.first : top;
  open(top.type === DOCUMENT ? top : null, 0, 0);
  while (levels.length > 0) {
    const level = levels.at(-1)!;
    if (node === null) {
      levels.pop();
      node = levels.length > 0 ? (level.siblings.parent as Element).next : null;
    } else if (node.type === ELEMENT) {
      const marks = enter(node, level);
      if (node.first) {
        open(node, marks, level.above | marks);
        node = node.first;
      } else node = node.next;
    } else node = node.next;
  }
}

/** Runs each list of the program on one element, inner lists first. Returns the element's marks. */
function evaluate(program: SelectorProgram, at: TestContext, level: Level): Marks {
  let marks: Marks = 0;
  at.work.left -= program.size;
  if (at.work.left < 0) throw new SelectorError('The selector is too expensive for this page');
  for (const list of program.lists) {
    let matched = 0;
    for (const chain of list.chains) {
      const state = advance(chain, at, level);
      marks |= state & ~FULL;
      if (state & FULL) matched = 1;
    }
    at.results[list.id] = matched;
    if (matched && list.counter >= 0) level.siblings.counts[list.counter]!++;
  }
  return marks;
}

/** The bit for a fully matched chain; all other bits are marks. */
const FULL = 1 << 31;

function advance(chain: Chain, at: TestContext, level: Level): number {
  let marks = 0;
  for (const step of chain.steps) {
    if (step.from >= 0) {
      const bit = 1 << step.from;
      const reached =
        step.combinator === ' '
          ? level.above
          : step.combinator === '>'
            ? level.parent
            : step.combinator === '+'
              ? level.previous
              : level.before;
      if ((reached & bit) === 0) continue;
    }
    if (step.tests.every((test) => test(at))) marks |= step.mark < 0 ? FULL : 1 << step.mark;
  }
  return marks;
}

/**
 * The elements for which `:has()` is true. A forward walk records which compounds each element matches. A backward
 * walk, which has already seen everything after an element, assembles the chains from their ends.
 */
function elementsHaving(program: SelectorProgram, test: HasTest, top: Node, scope: Node, work: Work): Set<Element> {
  const order: Element[] = [];
  const compounds: number[] = [];
  const indexes = new Map<Parent, number>();
  walk(program, top, scope, [], work, (at) => {
    let mask = 0;
    for (const [bit, tests] of test.compounds.entries()) {
      work.left -= tests.length;
      if (tests.every((simple) => simple(at))) mask |= 1 << bit;
    }
    indexes.set(at.element, order.length);
    order.push(at.element);
    compounds.push(mask);
  });

  const size = order.length;
  /**
   * For each element: the compounds from which a chain can be completed among its children, and among all its
   * descendants.
   */
  const children = new Int32Array(size);
  const under = new Int32Array(size);
  /**
   * For each parent (by the index of its element; the last entry is the top): the compounds from which a chain can be
   * completed among the following siblings.
   */
  const next = new Int32Array(size + 1);
  const after = new Int32Array(size + 1);
  const having = new Set<Element>();
  for (let i = size - 1; i >= 0; i--) {
    const element = order[i]!;
    const parent = element === top ? size : ((element.parent && indexes.get(element.parent)) ?? size);
    const later = { ' ': under[i]!, '>': children[i]!, '+': next[parent]!, '~': after[parent]! };
    const done = completed(test, compounds[i]!, later);
    if (test.chains.some((chain) => later[chain.combinator] & (1 << chain.first))) having.add(element);
    next[parent] = done;
    after[parent]! |= done;
    if (parent < size) {
      children[parent]! |= done;
      under[parent]! |= done | under[i]!;
    }
  }
  return having;
}

/**
 * The compounds in an element's `mask` from which a chain can be completed. `later` contains the results for the nodes
 * after the element.
 */
function completed(test: HasTest, mask: number, later: Record<' ' | '>' | '+' | '~', number>): number {
  let done = 0;
  for (let bit = 0; bit < test.compounds.length; bit++) {
    if ((mask & (1 << bit)) === 0) continue;
    const to = test.then[bit];
    if (!to || later[to] & (1 << (bit + 1))) done |= 1 << bit;
  }
  return done;
}
