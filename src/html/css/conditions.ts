/** Evaluates `@media` and `@supports` for a browser window of a given size (Media Queries 4, CSS Conditional 3). */
import { ownValue } from '#own-value.ts';

export interface Viewport {
  readonly width: number;
  readonly height: number;
}

const MAX_DEPTH = 8;
const MAX_CHARACTERS = 2000;

/** Evaluates a list of media queries; an empty list is true. */
export function matchesMedia(queries: string, viewport: Viewport): boolean {
  const text = queries.trim().toLowerCase();
  if (text === '') return true;
  if (text.length > MAX_CHARACTERS) return false;
  return splitOutside(text, ',').some((query) => queryHolds(query.trim(), viewport));
}

function queryHolds(query: string, viewport: Viewport): boolean {
  const typed = /^(?:(not|only)\s+)?([a-z][\w-]*)(?:\s+and\s+(.*))?$/s.exec(query);
  if (!typed || typed[2] === 'not') return conditionHolds(query, (feature) => featureHolds(feature, viewport)) === true;
  const [, prefix, type, rest] = typed;
  const fits = type === 'all' || type === 'screen';
  const met = fits && (!rest || conditionHolds(rest, (feature) => featureHolds(feature, viewport)) === true);
  return prefix === 'not' ? !met : met;
}

/** Evaluates a `@supports` condition. Current browsers are assumed to support everything without a vendor prefix. */
export function matchesSupports(condition: string): boolean {
  const text = condition.trim().toLowerCase();
  if (text.length > MAX_CHARACTERS) return false;
  return conditionHolds(text, (inside) => !/^\s*-(?:ms|moz|o)-|:\s*-(?:ms|moz|o)-|touch-callout/.test(inside)) === true;
}

/** Evaluates `not`, `and`, `or` and parentheses; null if the result is unknown or the text is invalid. */
function conditionHolds(text: string, leaf: (inside: string) => boolean | null, depth = 0): boolean | null {
  const terms = termsOf(text);
  if (terms === null || terms.length === 0 || depth > MAX_DEPTH) return null;
  const value = (term: string): boolean | null => {
    const inside = /^(?:[a-z-]+)?\((.*)\)$/s.exec(term)?.[1];
    if (inside === undefined) return null;
    const isGroup = term.startsWith('(') && /^\s*(?:not\b\s*)?\(/.test(inside);
    return isGroup ? conditionHolds(inside, leaf, depth + 1) : leaf(inside);
  };
  let result: boolean | null = null;
  let joined = '';
  let negated = false;
  for (const term of terms) {
    if (term === 'not') negated = true;
    else if (term === 'and' || term === 'or') joined = term;
    else {
      const met = value(term);
      const own = negated && met !== null ? !met : met;
      negated = false;
      if (joined === '') result = own;
      else if (joined === 'and') result = result === true ? own : result;
      else result = result === true ? true : own;
    }
  }
  return result;
}

/** Splits a condition into words and parenthesized parts; null if its parentheses do not match. */
function termsOf(text: string): string[] | null {
  const terms: string[] = [];
  let term = '';
  let depth = 0;
  for (const sign of text) {
    if (sign === '(') depth++;
    if (sign === ')') depth--;
    if (depth < 0) return null;
    if (depth === 0 && /\s/.test(sign)) {
      if (term) terms.push(term);
      term = '';
    } else term += sign;
  }
  if (depth !== 0) return null;
  if (term) terms.push(term);
  return terms;
}

function splitOutside(text: string, separator: string): string[] {
  const parts: string[] = [];
  let depth = 0;
  let from = 0;
  for (let at = 0; at < text.length; at++) {
    if (text[at] === '(') depth++;
    else if (text[at] === ')') depth--;
    else if (text[at] === separator && depth === 0) {
      parts.push(text.slice(from, at));
      from = at + 1;
    }
  }
  parts.push(text.slice(from));
  return parts;
}

/** Media features of a desktop window; an empty value matches a query for the feature's name alone. */
const FEATURES: Readonly<Record<string, readonly string[]>> = {
  hover: ['hover', ''],
  'any-hover': ['hover', ''],
  pointer: ['fine', ''],
  'any-pointer': ['fine', ''],
  'prefers-color-scheme': ['light', ''],
  'prefers-reduced-motion': ['no-preference'],
  'prefers-contrast': ['no-preference'],
  'forced-colors': ['none'],
  'inverted-colors': ['none'],
  scripting: ['enabled', ''],
  update: ['fast', ''],
  'display-mode': ['browser', ''],
  color: [''],
  grid: ['0'],
  'overflow-block': ['scroll', ''],
  'overflow-inline': ['scroll', ''],
};

const COMPARED = /^([^<>=]*?)\s*(<=?|>=?|=)\s*([^<>=]*?)(?:\s*(<=?|>=?|=)\s*([^<>=]*?))?$/;

function featureHolds(feature: string, viewport: Viewport): boolean | null {
  const text = feature.trim();
  const compared = COMPARED.exec(text);
  if (compared) return rangeHolds(compared, viewport);
  const [, name = '', value = ''] = /^([\w-]+)\s*(?::\s*(.*))?$/s.exec(text) ?? [];
  if (name === 'orientation') return value === (viewport.height >= viewport.width ? 'portrait' : 'landscape');
  const known = ownValue(FEATURES, name);
  if (known) return known.includes(value.trim());
  const bound = /^(min|max)-(.+)$/.exec(name);
  const size = sizeOf(bound?.[2] ?? name, viewport);
  if (size === null) return null;
  if (value === '') return true;
  const wanted = quantity(value);
  if (wanted === null) return null;
  return bound?.[1] === 'min' ? size >= wanted : bound?.[1] === 'max' ? size <= wanted : size === wanted;
}

function rangeHolds([, one = '', first = '', two = '', second, three = '']: string[], viewport: Viewport) {
  const value = (term: string) => sizeOf(term.trim(), viewport) ?? quantity(term);
  const left = compare(value(one), first, value(two));
  return second === undefined || left !== true ? left : compare(value(two), second, value(three));
}

function compare(a: number | null, operator: string, b: number | null): boolean | null {
  if (a === null || b === null) return null;
  if (operator === '=') return a === b;
  const met = operator.startsWith('<') ? a < b : a > b;
  return met || (operator.endsWith('=') && a === b);
}

function sizeOf(name: string, { width, height }: Viewport): number | null {
  switch (name) {
    case 'width':
    case 'device-width':
      return width;
    case 'height':
    case 'device-height':
      return height;
    case 'aspect-ratio':
    case 'device-aspect-ratio':
      return width / height;
    case 'resolution':
    case '-webkit-device-pixel-ratio':
      return 1;
    case 'color':
      return 8;
    default:
      return null;
  }
}

const UNITS: Readonly<Record<string, number>> = {
  '': 1,
  px: 1,
  em: 16,
  rem: 16,
  pt: 4 / 3,
  in: 96,
  cm: 96 / 2.54,
  mm: 96 / 25.4,
  dppx: 1,
  x: 1,
  dpi: 1 / 96,
};

/** A length in px, a resolution in dots per px, a ratio or a number; null for anything else. */
function quantity(text: string): number | null {
  const ratio = /^\s*([\d.]+)\s*\/\s*([\d.]+)\s*$/.exec(text);
  if (ratio) return Number(ratio[1]) / Number(ratio[2]);
  const found = /^\s*([+-]?(?:\d+\.?\d*|\.\d+))([a-z]*)\s*$/.exec(text);
  const unit = found && UNITS[found[2]!];
  return found && unit !== undefined && unit !== null ? Number(found[1]) * unit : null;
}
