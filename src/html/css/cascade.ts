/**
 * The declarations of style sheets for the elements of a document: the CSS cascade (Cascade 5, section 6) for author
 * rules. Rules are indexed by the id, class or name at the end of their selectors. Selectors with names that the page
 * does not have are never parsed, so a large style sheet costs little more than scanning its text.
 */
import { parse, type Selector } from 'css-what';
import type { Document, Element } from '../node.ts';
import { compileSelectors, selectAll } from '../select.ts';
import type { Declaration } from './declarations.ts';
import { type ComplexSelector, Matcher } from './match.ts';
import { PageIndex } from './page-index.ts';
import { parseStyleSheet, type StyleSheet, type StyleSheetOptions } from './style-sheet.ts';

/** The declarations for one element; elements matched by the same rules share one object. */
export interface MatchedDeclarations {
  readonly normal: ReadonlyMap<string, string>;
  readonly important: ReadonlyMap<string, string>;
}

export interface Cascade {
  /** The declarations for an element; undefined if no rule matches it. */
  of(element: Element): MatchedDeclarations | undefined;
  /** Whether a style sheet imports others; imported sheets are not read. */
  readonly imports: boolean;
  /** False if there were more rules than could be read or applied. */
  readonly complete: boolean;
}

const MAX_CHARACTERS = 4_000_000;
const MAX_RULES = 60_000;
/**
 * Maximum number of steps (one element tested against one compound), for a single selector and for all selectors
 * together.
 */
const MAX_SELECTOR_STEPS = 200_000;
const MAX_STEPS = 3_000_000;
/** Maximum cost of walks over the whole page: the number of selectors that need one, times the number of elements. */
const MAX_WALKED_ELEMENTS = 2_000_000;

/** Properties that justify a walk over the whole page. */
const HIDING_PROPERTIES = new Set(['display', 'visibility', 'opacity', 'clip', 'clip-path', 'position', 'font-size']);

interface Applied {
  readonly declarations: readonly Declaration[];
  readonly selector: string;
  /** Null if the selector can be evaluated only by a walk over the page. */
  readonly complex: ComplexSelector | null;
  readonly specificity: number;
  readonly layer: number;
}

/** Applies style sheets, in their order, to a document. */
export function applyStyleSheets(
  document: Document,
  sources: readonly string[],
  { viewport, isTracked }: Pick<StyleSheetOptions, 'viewport' | 'isTracked'>,
): Cascade {
  const page = new PageIndex(document);
  const mayMatch = (selector: string) => page.mayMatch(selector);
  const sheets: StyleSheet[] = [];
  let remaining = MAX_CHARACTERS;
  let rules = MAX_RULES;
  let complete = true;
  for (const source of sources) {
    const sheet = parseStyleSheet(source.slice(0, remaining), { viewport, isTracked, mayMatch, maxRules: rules });
    complete &&= sheet.complete && source.length <= remaining;
    remaining -= Math.min(source.length, remaining);
    rules -= sheet.rules.length;
    sheets.push(sheet);
  }
  const matcher = new Matcher(page, document);
  const matches = findMatches(document, page, matcher, inCascadeOrder(sheets, page.variableStyles, matcher));
  return {
    of: matches.of,
    imports: sheets.some((sheet) => sheet.imports),
    complete: complete && matches.complete,
  };
}

/** The selectors of all rules, lowest precedence first. */
function inCascadeOrder(sheets: readonly StyleSheet[], styles: readonly string[], matcher: Matcher): Applied[] {
  const layers = new Map<string, number>();
  for (const sheet of sheets) for (const name of sheet.layers) if (!layers.has(name)) layers.set(name, layers.size);
  const isUsed = usedProperties(sheets, styles);
  const applied: Applied[] = [];
  for (const sheet of sheets) {
    for (const { selectors, declarations: all, layer: name } of sheet.rules) {
      const declarations = all.filter(isUsed);
      if (declarations.length === 0) continue;
      const layer = name === undefined ? layers.size : layers.get(name)!;
      for (const selector of selectors) {
        const compiled = compile(selector, matcher, declarations);
        if (compiled) applied.push({ declarations, selector, ...compiled, layer });
      }
    }
  }
  return applied.sort((a, b) => a.layer - b.layer || a.specificity - b.specificity);
}

const VARIABLE = /var\(\s*(--[\w-]+)/gi;

/**
 * Returns a filter that drops unused custom properties, since pages often define many. `styles` are style attributes.
 */
function usedProperties(
  sheets: readonly StyleSheet[],
  styles: readonly string[],
): (declaration: Declaration) => boolean {
  const used = new Set<string>();
  const note = (text: string) => {
    for (const [, name] of text.matchAll(VARIABLE)) used.add(name!.toLowerCase());
  };
  for (const style of styles) note(style);
  for (const { rules } of sheets) {
    for (const { declarations } of rules) for (const { value } of declarations) if (value.includes('var(')) note(value);
  }
  return ({ property }) => !property.startsWith('--') || used.has(property);
}

function compile(
  selector: string,
  matcher: Matcher,
  declarations: readonly Declaration[],
): Pick<Applied, 'complex' | 'specificity'> | null {
  let parsed: Selector[][];
  try {
    parsed = parse(selector);
  } catch {
    return null;
  }
  const tokens = parsed[0];
  if (!tokens || parsed.length > 1 || tokens.some(({ type }) => type === 'pseudo-element')) return null;
  const complex = matcher.compile(tokens);
  if (complex) return complex.candidates.length > 0 ? { complex, specificity: complex.specificity } : null;
  // Only the linear engine supports the other selectors, at the cost of a walk over the page.
  const decides = declarations.some(({ property }) => HIDING_PROPERTIES.has(property));
  return decides && selector.includes(':has(') ? { complex, specificity: 0 } : null;
}

/** A tree of rules, rooted at 0: elements matched by the same rules end at the same node. */
class RuleChains {
  private readonly rules: number[] = [-1];
  private readonly before: number[] = [-1];
  private readonly after = new Map<number, number>();
  private readonly count: number;

  constructor(count: number) {
    this.count = count;
  }

  extend(chain: number, rule: number): number {
    const key = chain * this.count + rule;
    let next = this.after.get(key);
    if (next === undefined) {
      next = this.rules.length;
      this.rules.push(rule);
      this.before.push(chain);
      this.after.set(key, next);
    }
    return next;
  }

  rulesOf(chain: number): number[] {
    const found: number[] = [];
    for (let at = chain; at > 0; at = this.before[at]!) found.push(this.rules[at]!);
    return found.reverse();
  }
}

function findMatches(document: Document, page: PageIndex, matcher: Matcher, applied: readonly Applied[]) {
  const chains = new RuleChains(applied.length);
  const chainOf = new Int32Array(page.all.length);
  let steps = MAX_STEPS;
  let walked = MAX_WALKED_ELEMENTS;
  let complete = true;
  /** Matches a selector; returns false if it exceeds its step limit. */
  const match = (complex: ComplexSelector, rule: number): boolean => {
    const allowed = Math.min(MAX_SELECTOR_STEPS, steps);
    matcher.work.left = allowed;
    const found = complex.candidates.filter((number) => matcher.matches(number, complex));
    steps -= allowed - Math.max(matcher.work.left, 0);
    if (matcher.work.left <= 0) return false;
    for (const number of found) chainOf[number] = chains.extend(chainOf[number]!, rule);
    return true;
  };
  for (const [rule, { selector, complex }] of applied.entries()) {
    if (complex && match(complex, rule)) continue;
    walked -= page.all.length;
    if (walked < 0) {
      complete = false;
      continue;
    }
    const found = new Set(walk(document, selector));
    for (const [number, element] of page.all.entries()) {
      if (found.has(element)) chainOf[number] = chains.extend(chainOf[number]!, rule);
    }
  }
  const byElement = new Map<Element, number>();
  for (const [number, chain] of chainOf.entries()) if (chain > 0) byElement.set(page.all[number]!, chain);
  const merged = new Map<number, MatchedDeclarations>();
  const of = (element: Element): MatchedDeclarations | undefined => {
    const chain = byElement.get(element);
    if (chain === undefined) return undefined;
    let declared = merged.get(chain);
    if (!declared) {
      declared = merge(chains.rulesOf(chain).map((rule) => applied[rule]!));
      merged.set(chain, declared);
    }
    return declared;
  };
  return { of, complete };
}

/** The matches found by the linear engine; none for a selector that it does not support. */
function walk(document: Document, selector: string): Element[] {
  try {
    return selectAll(document, compileSelectors(selector));
  } catch {
    return [];
  }
}

/** Merges rules. Later rules take precedence; among important declarations, earlier layers do. */
function merge(rules: readonly Applied[]): MatchedDeclarations {
  const normal = new Map<string, string>();
  const important = new Map<string, string>();
  const layerOf = new Map<string, number>();
  for (const { declarations, layer } of rules) {
    for (const { property, value, important: isImportant } of declarations) {
      if (!isImportant) put(normal, property, value);
      else if (layer <= (layerOf.get(property) ?? layer)) {
        put(important, property, value);
        layerOf.set(property, layer);
      }
    }
  }
  return { normal, important };
}

/** Sets a property and moves it to the end: order decides between shorthands and their longhands. */
function put(map: Map<string, string>, property: string, value: string): void {
  map.delete(property);
  map.set(property, value);
}
