/**
 * Compiles parsed selectors to programs. A program is a sequence of lists; inner lists (`:is`, `:not`,
 * `:nth-child(of)`) precede the lists that use them. A list is a sequence of chains; a chain is compounds with
 * combinators between them. Each compound except the last in its chain has a mark: a bit that records for later
 * elements that the chain matched up to this compound.
 */
import type { PseudoSelector, Selector } from 'css-what';
import { parse } from 'css-what';
import { ownValue } from '#own-value.ts';
import {
  createAttributeTest,
  createNameTest,
  type ElementTest,
  LIVE_PSEUDO_CLASSES,
  PSEUDO_CLASSES,
  parseNth,
} from './selector-tests.ts';

/** A selector that cannot be used; the message says why. */
export class SelectorError extends Error {
  override readonly name = 'SelectorError';
}

export type Combinator = ' ' | '>' | '+' | '~';

export interface Step {
  readonly combinator: Combinator;
  /** The mark that must be found across the combinator, or -1 for the first compound. */
  readonly from: number;
  /** The mark that this compound sets, or -1 for the last. */
  readonly mark: number;
  readonly tests: readonly ElementTest[];
}

export interface Chain {
  readonly steps: readonly Step[];
}

export interface SelectorList {
  readonly id: number;
  readonly chains: readonly Chain[];
  /** Index of the sibling counter that counts the matches, or -1. */
  readonly counter: number;
}

/** One `:has()`. The compounds of all its chains are numbered consecutively. */
export interface HasTest {
  readonly compounds: readonly (readonly ElementTest[])[];
  /** For each compound, the combinator to the next one of its chain; null for the last. */
  readonly then: readonly (Combinator | null)[];
  readonly chains: readonly { readonly combinator: Combinator; readonly first: number }[];
}

export interface SelectorProgram {
  readonly lists: readonly SelectorList[];
  /** Index in `lists` of the selector itself. */
  readonly main: number;
  readonly has: readonly HasTest[];
  readonly counters: number;
  /** Maximum number of simple tests for an element. */
  readonly size: number;
}

/** Bit 31 of the marks is reserved. */
const MAX_MARKS = 31;
const MAX_NESTING = 6;
const MAX_TESTS = 1000;

const COMBINATORS: Readonly<Record<string, Combinator>> = {
  descendant: ' ',
  child: '>',
  adjacent: '+',
  sibling: '~',
};

/**
 * Compiles a list of parsed selectors. Selectors share a program until it has no free marks. `escaped` means that the
 * selector contains backslashes, so that names may have any character.
 */
export function compilePrograms(parsed: Selector[][], escaped: boolean): SelectorProgram[] {
  const groups: Selector[][][] = [];
  let marks = MAX_MARKS + 1;
  for (const tokens of parsed) {
    const own = countMarks(tokens, 0);
    if (marks + own > MAX_MARKS) {
      groups.push([]);
      marks = 0;
    }
    groups.at(-1)!.push(tokens);
    marks += own;
  }
  return groups.map((group) => compileProgram(group, escaped));
}

/** Number of combinators in a selector, including its arguments. */
function countMarks(tokens: Selector[], depth: number): number {
  if (depth > MAX_NESTING) throw new SelectorError('The selector is nested too deeply');
  let count = 0;
  for (const token of tokens) {
    if (ownValue(COMBINATORS, token.type)) count++;
    if (token.type !== 'pseudo') continue;
    for (const inner of argumentLists(token)) count += countMarks(inner, depth + 1);
  }
  if (count > MAX_MARKS) throw new SelectorError(`The selector has more than ${MAX_MARKS} combinators`);
  return count;
}

/** The selectors in a pseudo-class's parentheses; none if its argument is something else. */
function argumentLists(token: PseudoSelector): Selector[][] {
  if (Array.isArray(token.data)) return token.data;
  const of = token.name === 'nth-child' && token.data ? splitOf(token.data).of : null;
  return of === null ? [] : readInner(of);
}

/** Splits `2n+1 of .a` into its two parts. */
function splitOf(text: string): { formula: string; of: string | null } {
  const found = /\sof\s/i.exec(text);
  if (!found) return { formula: text, of: null };
  return { formula: text.slice(0, found.index), of: text.slice(found.index + found[0].length) };
}

function readInner(css: string): Selector[][] {
  try {
    const parsed = parse(css);
    if (parsed.length > 0) return parsed;
  } catch (cause) {
    throw new SelectorError(`Invalid selector: ${(cause as Error).message}`, { cause });
  }
  throw new SelectorError('A selector is missing after "of"');
}

function compileProgram(parsed: Selector[][], escaped: boolean): SelectorProgram {
  const lists: SelectorList[] = [];
  const has: HasTest[] = [];
  let marks = 0;
  let counters = 0;
  let size = 0;
  let inHas = false;

  const compileList = (selectors: Selector[][], counted: boolean): SelectorList => {
    const chains = selectors.map(compileChain);
    const list: SelectorList = { id: lists.length, chains, counter: counted ? counters++ : -1 };
    lists.push(list);
    return list;
  };

  const compileChain = (tokens: Selector[]): Chain => {
    const compounds = splitCompounds(tokens);
    if (compounds[0]!.combinator !== null) throw new SelectorError('A selector starts with a combinator');
    let from = -1;
    const steps = compounds.map(({ combinator, simple }, index): Step => {
      const mark = index === compounds.length - 1 ? -1 : marks++;
      const step: Step = { combinator: combinator ?? ' ', from, mark, tests: compileCompound(simple) };
      from = mark;
      return step;
    });
    return { steps };
  };

  const compileCompound = (simple: Selector[]): ElementTest[] => {
    size += simple.length;
    if (size > MAX_TESTS) throw new SelectorError('The selector has too many parts');
    return simple.map(compileSimple);
  };

  const compileSimple = (selector: Selector): ElementTest => {
    switch (selector.type) {
      case 'universal':
        checkNamespace(selector.namespace);
        return () => true;
      case 'tag':
        checkNamespace(selector.namespace);
        checkName(selector.name, escaped);
        return createNameTest(selector.name);
      case 'attribute':
        checkNamespace(selector.namespace);
        checkName(selector.name, escaped);
        // The name of a class or an id, which css-what parses as an attribute's value.
        if (selector.ignoreCase === 'quirks') checkName(selector.value, escaped);
        if (selector.action === 'not') throw new SelectorError('CSS has no operator !=');
        return createAttributeTest(selector);
      case 'pseudo-element':
        return () => false;
      case 'pseudo':
        return compilePseudo(selector);
      default:
        throw new SelectorError('The selector contains an unknown combinator');
    }
  };

  const compilePseudo = (selector: PseudoSelector): ElementTest => {
    const { name, data } = selector;
    if (Array.isArray(data)) {
      if (name === 'has') return compileHas(data);
      const { id } = compileList(data, false);
      if (name === 'is' || name === 'where' || name === 'matches') return ({ results }) => results[id] === 1;
      if (name === 'not') return ({ results }) => results[id] === 0;
    } else if (typeof data === 'string') {
      const test = compileNth(name, data);
      if (test) return test;
    } else {
      const test = ownValue(PSEUDO_CLASSES, name);
      if (test) return test;
      if (LIVE_PSEUDO_CLASSES.has(name)) return () => false;
    }
    throw new SelectorError(`The pseudo-class :${name} is not supported`);
  };

  const compileNth = (name: string, text: string): ElementTest | null => {
    if (!/^nth-(?:last-)?(?:child|of-type)$/.test(name)) return null;
    const { formula, of } = splitOf(text);
    const holds = parseNth(formula);
    if (!holds) throw new SelectorError(`:${name}(${formula}) is not a formula such as 2n+1`);
    const ofType = name.endsWith('type');
    if (of !== null) {
      if (name !== 'nth-child') throw new SelectorError(`:${name}() does not support "of"`);
      const { id, counter } = compileList(readInner(of), true);
      return ({ results, siblings }) => results[id] === 1 && holds(siblings.counts[counter]!);
    }
    const place = ofType ? 'typeIndex' : 'index';
    if (!name.startsWith('nth-last')) return ({ siblings }) => holds(siblings[place]);
    return ({ siblings }) => holds(siblings.total(ofType) - siblings[place] + 1);
  };

  const compileHas = (selectors: Selector[][]): ElementTest => {
    if (inHas) throw new SelectorError(':has() inside :has() is not allowed');
    inHas = true;
    const compounds: ElementTest[][] = [];
    const then: (Combinator | null)[] = [];
    const chains = selectors.map((tokens) => {
      const parts = splitCompounds(tokens);
      const first = compounds.length;
      for (const [index, { simple }] of parts.entries()) {
        compounds.push(compileCompound(simple));
        then.push(parts[index + 1]?.combinator ?? null);
      }
      return { combinator: parts[0]!.combinator ?? ' ', first };
    });
    inHas = false;
    if (compounds.length > MAX_MARKS) throw new SelectorError(`:has() has more than ${MAX_MARKS} parts`);
    const id = has.length;
    has.push({ compounds, then, chains });
    // While `:has()` is being evaluated, the walk that records its parts has no results yet and does not need any.
    return ({ element, has }) => has[id]?.has(element) ?? false;
  };

  const main = compileList(parsed, false).id;
  return { lists, main, has, counters, size };
}

/** Splits a selector at its combinators. The first part has a combinator only in relative selectors, in `:has()`. */
function splitCompounds(tokens: Selector[]): { combinator: Combinator | null; simple: Selector[] }[] {
  const parts: { combinator: Combinator | null; simple: Selector[] }[] = [{ combinator: null, simple: [] }];
  for (const [index, token] of tokens.entries()) {
    const combinator = ownValue(COMBINATORS, token.type);
    if (!combinator) parts.at(-1)!.simple.push(token);
    else if (index === 0) parts[0]!.combinator = combinator;
    else parts.push({ combinator, simple: [] });
  }
  if (parts.some(({ simple }) => simple.length === 0))
    throw new SelectorError('A combinator lacks a selector on one side');
  return parts;
}

function checkNamespace(namespace: string | null): void {
  if (namespace !== null && namespace !== '*') throw new SelectorError('Namespaces are not supported in selectors');
}

/** css-what allows almost any character at the start of a name. */
function checkName(name: string, escaped: boolean): void {
  if (!escaped && !/^-?[A-Za-z_\u0080-\uffff-][\w\u0080-\uffff-]*$/.test(name)) {
    throw new SelectorError(`"${name}" is not a valid name`);
  }
}
