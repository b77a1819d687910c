/** Parses format codes: up to four sections, each a list of tokens. */

export type TokenKind =
  | 'literal'
  | 'digit'
  | 'point'
  | 'comma'
  | 'percent'
  | 'exponent'
  | 'slash'
  | 'text'
  | 'general'
  | 'date'
  | 'elapsed'
  | 'half';

export interface Token {
  readonly kind: TokenKind;
  /** The token as written in the code (date letters in lower case), or the text of a literal. */
  readonly text: string;
}

export interface Condition {
  holds(value: number): boolean;
  /** Whether it matches only negative numbers, whose sign is then omitted. */
  readonly excludesPositive: boolean;
}

export interface Section {
  readonly kind: 'decimal' | 'scientific' | 'fraction' | 'date' | 'text' | 'general';
  readonly tokens: readonly Token[];
  readonly condition: Condition | undefined;
  /** Number of placeholders (before an exponent), and how many of them follow the point. */
  readonly digits: number;
  readonly decimals: number;
  readonly grouped: boolean;
  readonly percents: number;
  /** Commas after the last placeholder: each divides by a thousand. */
  readonly thousands: number;
  /** Language of month and day names, if the code declares one. */
  readonly lang: string | undefined;
}

/** Longest format code, in characters, as in Excel. */
const MAX_CODE = 255;

export function sectionsOf(code: string): readonly Section[] {
  const sections: Section[] = [];
  let parts: Token[] = [];
  let condition: Condition | undefined;
  let lang: string | undefined;
  const finish = () => {
    sections.push(sectionOf(parts, condition, lang));
    parts = [];
    condition = undefined;
    lang = undefined;
  };
  const source = code.slice(0, MAX_CODE);
  let at = 0;
  while (at < source.length && sections.length < 4) {
    const unit = source[at]!;
    if (unit === ';') {
      finish();
      at++;
      continue;
    }
    if (unit === '[') {
      const end = source.indexOf(']', at);
      const inner = source.slice(at + 1, end < 0 ? source.length : end);
      at += inner.length + 2;
      condition ??= conditionOf(inner);
      const money = /^\$([^-]*)(?:-(.*))?$/.exec(inner);
      if (money?.[1]) parts.push({ kind: 'literal', text: money[1] });
      lang ??= languageOf(money?.[2]);
      if (/^(?:h+|m+|s+)$/i.test(inner)) parts.push({ kind: 'elapsed', text: inner.toLowerCase() });
      continue;
    }
    const token = tokenAt(source, at);
    at += token.length;
    if (token.text !== '') parts.push({ kind: token.kind, text: token.text });
  }
  if (sections.length < 4) finish();
  return sections;
}

interface Scanned extends Token {
  /** Length in characters of the code. */
  readonly length: number;
}

const DATE_RUN = /^(?:y+|m+|d+|h+|s+|e+|b+|a{3,4}|g+)/i;

function tokenAt(source: string, at: number): Scanned {
  const unit = source[at]!;
  const literal = (text: string, length: number): Scanned => ({ kind: 'literal', text, length });
  if (unit === '"') {
    const end = source.indexOf('"', at + 1);
    const text = source.slice(at + 1, end < 0 ? source.length : end);
    return literal(text, text.length + 2);
  }
  if (unit === '\\') return literal(source[at + 1] ?? '', 2);
  if (unit === '_') return literal(' ', 2);
  if (unit === '*') return literal('', 2);
  const rest = source.slice(at, at + 16);
  const general = /^(?:general|standard)/i.exec(rest);
  if (general) return { kind: 'general', text: 'General', length: general[0].length };
  const half = /^(?:am\/pm|a\/p)/i.exec(rest);
  if (half) return { kind: 'half', text: half[0], length: half[0].length };
  const exponent = /^e[+-]/i.exec(rest);
  if (exponent) return { kind: 'exponent', text: exponent[0], length: 2 };
  const date = DATE_RUN.exec(rest);
  if (date) return { kind: 'date', text: date[0].toLowerCase(), length: date[0].length };
  const simple: Partial<Record<string, TokenKind>> = {
    '0': 'digit',
    '#': 'digit',
    '?': 'digit',
    '.': 'point',
    ',': 'comma',
    '%': 'percent',
    '/': 'slash',
    '@': 'text',
  };
  return { kind: simple[unit] ?? 'literal', text: unit, length: 1 };
}

function sectionOf(tokens: Token[], condition: Condition | undefined, lang: string | undefined): Section {
  const kinds = new Set(tokens.map(({ kind }) => kind));
  const kind =
    kinds.has('date') || kinds.has('elapsed')
      ? 'date'
      : kinds.has('general')
        ? 'general'
        : kinds.has('text')
          ? 'text'
          : kinds.has('exponent')
            ? 'scientific'
            : kinds.has('slash') && kinds.has('digit')
              ? 'fraction'
              : 'decimal';
  const places = placesOf(tokens);
  const plain = kind === 'decimal' || kind === 'scientific' ? withoutExtraPoints(tokens) : tokens;
  return { kind, tokens: plain, condition, lang, ...places };
}

/** A second point is a literal. */
function withoutExtraPoints(tokens: readonly Token[]): Token[] {
  let points = 0;
  return tokens.map((token) => (token.kind === 'point' && points++ > 0 ? { kind: 'literal', text: '.' } : token));
}

function placesOf(tokens: readonly Token[]) {
  let digits = 0;
  let decimals = 0;
  let percents = 0;
  let pending = 0;
  let grouped = false;
  let afterPoint = false;
  for (const { kind } of tokens) {
    if (kind === 'exponent') break;
    if (kind === 'point') afterPoint = true;
    else if (kind === 'percent') percents++;
    else if (kind === 'comma' && digits > 0) pending++;
    else if (kind === 'digit') {
      digits++;
      if (afterPoint) decimals++;
      // A comma between integer placeholders groups digits; each comma after the last placeholder divides by a
      // thousand.
      else if (pending > 0) grouped = true;
      if (!afterPoint) pending = 0;
    }
  }
  return { digits, decimals, percents, grouped, thousands: pending };
}

function conditionOf(inner: string): Condition | undefined {
  const found = /^(<=|>=|<>|<|>|=)\s*(-?\d+(?:\.\d+)?)$/.exec(inner.trim());
  if (!found) return undefined;
  const bound = Number(found[2]);
  const tests: Record<string, (value: number) => boolean> = {
    '<': (value) => value < bound,
    '>': (value) => value > bound,
    '<=': (value) => value <= bound,
    '>=': (value) => value >= bound,
    '<>': (value) => value !== bound,
    '=': (value) => value === bound,
  };
  const operator = found[1]!;
  return { holds: tests[operator]!, excludesPositive: operator.startsWith('<') && operator !== '<>' && bound <= 0 };
}

/** Primary languages of Windows language ids (MS-LCID, section 2.2). */
const LANGUAGES: Readonly<Record<number, string>> = {
  1: 'ar',
  4: 'zh',
  5: 'cs',
  6: 'da',
  7: 'de',
  8: 'el',
  10: 'es',
  11: 'fi',
  12: 'fr',
  13: 'he',
  14: 'hu',
  16: 'it',
  17: 'ja',
  18: 'ko',
  19: 'nl',
  20: 'nb',
  21: 'pl',
  22: 'pt',
  24: 'ro',
  25: 'ru',
  29: 'sv',
  31: 'tr',
  34: 'uk',
};

/** Parses `-407` or `-de-DE`. */
function languageOf(locale: string | undefined): string | undefined {
  if (!locale) return undefined;
  if (/^[0-9a-f]{3,8}$/i.test(locale)) return LANGUAGES[Number.parseInt(locale, 16) & 0x3ff];
  return /^([a-z]{2,3})(?:-[a-z0-9]{2,8}){0,3}(?:,.*)?$/i.exec(locale)?.[1]?.toLowerCase();
}
