/**
 * Keeps long lists of numbers as text while parsing JSON. Parsing and writing 50,000 numbers costs far more than the
 * rest of a request, and most executors never read them. So `embedding` and `tensor` become NdArrays that contain their
 * JSON text.
 */
import { randomBytes } from 'node:crypto';
import { NdArray } from '../ndarray.ts';
import { isObject } from '../values.ts';

/** Minimum length of a JSON text in which lists are kept as text. Shorter texts are faster to parse as a whole. */
const MIN_LENGTH = 4096;

/**
 * Matches the start of an array under these keys. In valid JSON only a key precedes a colon, and quotes are escaped.
 */
const ARRAY_KEY = /"(?:embedding|tensor)"[ \t\n\r]*:[ \t\n\r]*\[/g;

const BACKSLASH = 0x5c;
const MINUS = 0x2d;
const PLUS = 0x2b;
const DOT = 0x2e;
const ZERO = 0x30;
const NINE = 0x39;
const COMMA = 0x2c;
const BRACKET_END = 0x5d;
/** Maximum number of digits of an integer that is always exact as a double. */
const MAX_EXACT_DIGITS = 15;

const isDigit = (code: number): boolean => code >= ZERO && code <= NINE;
const isSpace = (code: number): boolean =>
  code === 0x20 || (code >= 0x09 && code <= 0x0d && code !== 0x0b && code !== 0x0c);

function digitsEnd(text: string, at: number): number {
  while (isDigit(text.charCodeAt(at))) at++;
  return at;
}

interface NumberList {
  /** Index after the closing bracket. */
  readonly end: number;
  readonly length: number;
  readonly isWhole: boolean;
}

/** Scans a flat list of numbers that starts at a bracket. Anything else returns `undefined` and is parsed as usual. */
function scanNumberList(text: string, start: number): NumberList | undefined {
  let isWhole = true;
  let at = start + 1;
  for (let length = 1; ; length++) {
    while (isSpace(text.charCodeAt(at))) at++;
    if (text.charCodeAt(at) === MINUS) at++;
    const first = at;
    at = digitsEnd(text, at);
    if (at === first || (at > first + 1 && text.charCodeAt(first) === ZERO)) return undefined;
    if (at > first + MAX_EXACT_DIGITS) isWhole = false;
    if (text.charCodeAt(at) === DOT) {
      isWhole = false;
      const fraction = at + 1;
      at = digitsEnd(text, fraction);
      if (at === fraction) return undefined;
    }
    if ((text.charCodeAt(at) | 0x20) === 0x65) {
      isWhole = false;
      at++;
      const sign = text.charCodeAt(at);
      if (sign === MINUS || sign === PLUS) at++;
      const exponent = at;
      at = digitsEnd(text, exponent);
      // A larger exponent may overflow to Infinity.
      if (at === exponent || at > exponent + 2) return undefined;
    }
    while (isSpace(text.charCodeAt(at))) at++;
    const next = text.charCodeAt(at++);
    if (next === BRACKET_END) return { end: at, length, isWhole };
    if (next !== COMMA) return undefined;
  }
}

function isEscaped(text: string, at: number): boolean {
  let before = at;
  while (text.charCodeAt(before - 1) === BACKSLASH) before--;
  return (at - before) % 2 === 1;
}

interface ExtractedArrays {
  /** The text with a placeholder for each list. */
  readonly text: string;
  readonly prefix: string;
  readonly arrays: readonly NdArray[];
}

function extractArrays(text: string): ExtractedArrays {
  const prefix = randomBytes(12).toString('hex');
  const arrays: NdArray[] = [];
  const pieces: string[] = [];
  let from = 0;
  ARRAY_KEY.lastIndex = 0;
  for (let found = ARRAY_KEY.exec(text); found; found = ARRAY_KEY.exec(text)) {
    if (isEscaped(text, found.index)) continue;
    const start = ARRAY_KEY.lastIndex - 1;
    const list = scanNumberList(text, start);
    if (!list) continue;
    pieces.push(text.slice(from, start), `"${prefix}${arrays.length}"`);
    arrays.push(NdArray.fromJson(text.slice(start, list.end), list.length, list.isWhole ? '<i8' : '<f8'));
    from = list.end;
    ARRAY_KEY.lastIndex = from;
  }
  pieces.push(text.slice(from));
  return { text: pieces.join(''), prefix, arrays };
}

/** Replaces the placeholders in documents by their arrays. Returns how many it replaced. */
function restoreArrays(documents: unknown, { prefix, arrays }: ExtractedArrays): number {
  let placed = 0;
  const waiting = [documents];
  while (waiting.length > 0) {
    const list = waiting.pop();
    if (!Array.isArray(list)) continue;
    for (const document of list) {
      if (!isObject(document)) continue;
      for (const key of ['embedding', 'tensor']) {
        const value = document[key];
        if (typeof value !== 'string' || !value.startsWith(prefix)) continue;
        document[key] = arrays[Number(value.slice(prefix.length))];
        placed++;
      }
      if (document.chunks) waiting.push(document.chunks);
      if (document.matches) waiting.push(document.matches);
    }
  }
  return placed;
}

/**
 * Parses the JSON of a request. Long arrays in documents become NdArray values, which `readRequest` accepts; the rest
 * is parsed by `parse`. Throws the errors of `parse`; the position in a SyntaxError may differ from that in `text`.
 */
export function parseWithArrays(text: string, parse: (text: string) => unknown = JSON.parse): unknown {
  if (text.length < MIN_LENGTH) return parse(text);
  const taken = extractArrays(text);
  if (taken.arrays.length === 0) return parse(text);
  const value = parse(taken.text);
  const data = isObject(value) ? value.data : undefined;
  const placed = restoreArrays(isObject(data) ? data.docs : data, taken);
  // If a placeholder is outside the documents or in tags, where a list must stay a list, everything is parsed as usual.
  return placed === taken.arrays.length ? value : parse(text);
}
