/** JSON from callers. A parsed value takes thirty times its text and more, so the text is looked through before. */

/** Brackets, commas and colons outside of strings: about two for each value. */
const MAX_MARKS = 200_000;
const MAX_DEPTH = 200;

export class JsonTooLargeError extends Error {}

/** Throws a SyntaxError, or a JsonTooLarge whose message says in what way: it follows the name of what was too large. */
export function parseJson(text: string): unknown {
  // RFC 8259 section 8.1: a reader may ignore a byte order mark.
  const bare = text.charCodeAt(0) === BYTE_ORDER_MARK ? text.slice(1) : text;
  measure(bare);
  return JSON.parse(bare);
}

/** For values that were parsed by others: the marks left of `left`, by the same measure as `parseJson`. */
export function marksLeft(value: unknown, left = MAX_MARKS): number {
  const waiting: { value: unknown; depth: number }[] = [{ value, depth: 0 }];
  for (let next = waiting.pop(); next; next = waiting.pop()) {
    if (typeof next.value !== 'object' || next.value === null) continue;
    const depth = next.depth + 1;
    if (depth > MAX_DEPTH) throw tooDeep();
    const values = Object.values(next.value);
    left -= values.length + (Array.isArray(next.value) ? 1 : values.length + 1);
    if (left < 0) throw tooMany();
    for (const child of values) waiting.push({ value: child, depth });
  }
  return left;
}

function measure(text: string): void {
  let marks = 0;
  let depth = 0;
  for (let at = 0; at < text.length; at++) {
    switch (text.charCodeAt(at)) {
      case QUOTE:
        at = endOfString(text, at);
        break;
      case BRACE:
      case BRACKET:
        if (++depth > MAX_DEPTH) throw tooDeep();
        marks++;
        break;
      case BRACE_END:
      case BRACKET_END:
        depth--;
        break;
      case COMMA:
      case COLON:
        marks++;
    }
    if (marks > MAX_MARKS) throw tooMany();
  }
}

const BYTE_ORDER_MARK = 0xfeff;
const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const BRACKET = 0x5b;
const BACKSLASH = 0x5c;
const BRACKET_END = 0x5d;
const BRACE = 0x7b;
const BRACE_END = 0x7d;

/** The place of the quote that ends the string which begins at `start`; the end of the text when there is none. */
function endOfString(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); end >= 0; end = text.indexOf('"', end + 1)) {
    let escapes = end;
    while (text.charCodeAt(escapes - 1) === BACKSLASH) escapes--;
    if ((end - escapes) % 2 === 0) return end;
  }
  return text.length;
}

const tooDeep = () => new JsonTooLargeError('is nested too deep');
const tooMany = () => new JsonTooLargeError('has too many values');
