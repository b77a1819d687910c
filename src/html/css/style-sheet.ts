/**
 * Parses a style sheet into the rules that apply in a window of a given size, in one pass over its text (CSS Syntax,
 * section 5). Conditions are evaluated, nested rules are expanded, and untracked declarations are dropped.
 */
import { matchesMedia, matchesSupports, type Viewport } from './conditions.ts';
import { type Declaration, endOfString, parseDeclaration, stripComments } from './declarations.ts';

export interface StyleRule {
  /** A list of complex selectors, as written. */
  readonly selectors: readonly string[];
  readonly declarations: readonly Declaration[];
  /** Name of the cascade layer; undefined outside of layers. */
  readonly layer: string | undefined;
}

export interface StyleSheet {
  readonly rules: readonly StyleRule[];
  /** Layers, in the order of their first mention. */
  readonly layers: readonly string[];
  /** Whether the style sheet imports others; imported sheets are not read. */
  readonly imports: boolean;
  /** False if the sheet is too large to be read completely. */
  readonly complete: boolean;
}

export interface StyleSheetOptions {
  readonly viewport: Viewport;
  readonly isTracked: (property: string) => boolean;
  /** Whether a selector may match anything; rules without such a selector are dropped. */
  readonly mayMatch: (selector: string) => boolean;
  readonly maxRules: number;
}

const MAX_DEPTH = 16;
const MAX_SELECTOR_CHARACTERS = 2000;
const MAX_SELECTORS = 500;

/** Content of a block: rules, the declarations of a style rule (and nested rules), or ignored text. */
interface Block {
  readonly kind: 'rules' | 'style' | 'skipped';
  readonly selectors: readonly string[];
  readonly layer: string | undefined;
  readonly declarations: Declaration[];
}

/** Parses a sheet. Never throws: invalid CSS is skipped as in the standard. */
export function parseStyleSheet(
  source: string,
  { viewport, isTracked, mayMatch, maxRules }: StyleSheetOptions,
): StyleSheet {
  const text = stripComments(source).replace(/<!--|-->/g, '');
  const rules: StyleRule[] = [];
  const layers = new Set<string>();
  let imports = false;
  let anonymous = 0;
  let complete = true;
  const conditions = new Map<string, boolean>();
  const blocks: Block[] = [{ kind: 'rules', selectors: [], layer: undefined, declarations: [] }];

  const open = (prelude: string): void => {
    const around = blocks.at(-1)!;
    const block = (kind: Block['kind'], more: Partial<Block> = {}) => {
      const opened: Block = { kind, selectors: around.selectors, layer: around.layer, declarations: [], ...more };
      blocks.push(opened);
      if (kind !== 'style') return;
      if (rules.length < maxRules) rules.push(opened);
      else complete = false;
    };
    if (around.kind === 'skipped' || blocks.length > MAX_DEPTH) block('skipped');
    else if (prelude.startsWith('@')) {
      const layer = openLayer(prelude, around.layer);
      if (layer !== undefined) block(innerKind(around), { layer });
      else block(isMet(prelude) ? innerKind(around) : 'skipped');
    } else if (around.kind === 'style' && /^--[\w-]*\s*:/.test(prelude)) block('skipped');
    else {
      const selectors = nested(selectorsOf(prelude), around.selectors).filter(mayMatch);
      block(selectors.length > 0 ? 'style' : 'skipped', { selectors });
    }
  };
  const isMet = (prelude: string): boolean => {
    const known = conditions.get(prelude) ?? holds(prelude, viewport);
    conditions.set(prelude, known);
    return known;
  };
  const openLayer = (prelude: string, around: string | undefined): string | undefined => {
    const name = /^@layer\b\s*([^,]*)$/i.exec(prelude)?.[1]?.trim();
    if (name === undefined) return undefined;
    const full = `${around === undefined ? '' : `${around}.`}${name || `(${++anonymous})`}`;
    layers.add(full);
    return full;
  };
  /** Handles an item without a block: a declaration, or a statement of the sheet. */
  const state = (text: string, from: number, end: number): void => {
    const around = blocks.at(-1)!;
    if (around.kind === 'style') {
      const declaration = parseDeclaration(text, from, end, isTracked);
      if (declaration) around.declarations.push(declaration);
    } else if (around.kind === 'rules') {
      const statement = text.slice(from, end).trim();
      if (/^@import\b/i.test(statement)) imports = true;
      else if (/^@layer\b/i.test(statement)) {
        for (const name of statement.slice(6).split(',')) if (name.trim()) layers.add(name.trim());
      }
    }
  };

  let from = 0;
  while (from < text.length) {
    const end = endOfItem(text, from);
    const sign = text[end];
    if (sign === '{') open(text.slice(from, end).trim());
    else {
      state(text, from, end);
      if (sign === '}' && blocks.length > 1) blocks.pop();
    }
    from = end + 1;
  }
  return { rules: rules.filter(({ declarations }) => declarations.length > 0), layers: [...layers], imports, complete };
}

/** Rules of a conditional group inside a style rule belong to the style rule (CSS Nesting, section 3.2). */
const innerKind = (around: Block): Block['kind'] => (around.kind === 'style' ? 'style' : 'rules');

/** Whether the block of an at-rule applies in this window. */
function holds(prelude: string, viewport: Viewport): boolean {
  const found = /^@([\w-]+)(.*)$/s.exec(prelude);
  const condition = found?.[2]?.trim() ?? '';
  switch (found?.[1]?.toLowerCase()) {
    case 'media':
      return matchesMedia(condition, viewport);
    case 'supports':
      return matchesSupports(condition);
    default:
      return false;
  }
}

/** Expands nested selectors with those of the surrounding rule (CSS Nesting, section 2). */
function nested(selectors: readonly string[], around: readonly string[]): string[] {
  if (around.length === 0) return [...selectors];
  const parent = `:is(${around.join(',')})`;
  return selectors
    .map((selector) => (selector.includes('&') ? selector.replaceAll('&', () => parent) : `${parent} ${selector}`))
    .filter((selector) => selector.length <= MAX_SELECTOR_CHARACTERS);
}

/** Splits a list of selectors at its commas. Overlong selectors, and those beyond the maximum number, are dropped. */
function selectorsOf(prelude: string): string[] {
  const found: string[] = [];
  let from = 0;
  const add = (to: number) => {
    const selector = prelude.slice(from, to).trim();
    if (selector !== '' && selector.length <= MAX_SELECTOR_CHARACTERS && found.length < MAX_SELECTORS)
      found.push(selector);
  };
  if (!prelude.includes(',')) add(prelude.length);
  else {
    for (let at = 0; at <= prelude.length; at++) {
      const sign = prelude[at];
      if (sign === undefined || sign === ',') {
        add(at);
        from = at + 1;
      } else at = endOfPiece(prelude, at);
    }
  }
  return found;
}

/** Position of the next `{`, `}` or `;` outside of strings and brackets; the text length if there is none. */
function endOfItem(text: string, from: number): number {
  for (let at = from; at < text.length; at++) {
    switch (text.charCodeAt(at)) {
      case 0x7b:
      case 0x7d:
      case 0x3b:
        return at;
      case 0x22:
      case 0x27:
      case 0x28:
      case 0x5b:
      case 0x5c:
        at = endOfPiece(text, at);
    }
  }
  return text.length;
}

const CLOSING: Readonly<Record<string, string>> = { '(': ')', '[': ']' };
const INNER = /["'()[\]\\]/g;

/** The last position of the string, escape or bracketed part that starts at `at`; `at` itself if none starts there. */
function endOfPiece(text: string, at: number): number {
  const sign = text[at]!;
  if (sign === '\\') return at + 1;
  if (sign === '"' || sign === "'") return endOfString(text, at);
  if (!(sign in CLOSING)) return at;
  if (/url$/i.test(text.slice(Math.max(0, at - 3), at)) && !/["']/.test(text[at + 1] ?? '')) {
    const end = text.indexOf(')', at);
    return end < 0 ? text.length : end;
  }
  const open = [CLOSING[sign]!];
  INNER.lastIndex = at + 1;
  for (let found = INNER.exec(text); found; found = INNER.exec(text)) {
    const inner = found[0];
    if (inner === open.at(-1)) open.pop();
    else if (inner in CLOSING) open.push(CLOSING[inner]!);
    else if (inner === '\\') INNER.lastIndex++;
    else if (inner === '"' || inner === "'") INNER.lastIndex = endOfString(text, found.index) + 1;
    if (open.length === 0) return found.index;
  }
  return text.length;
}
