/**
 * Parses untrusted JSON. A parsed value may use thirty times the memory of its text, so the size of the text is checked
 * first.
 */

/**
 * Maximum number of structural characters: brackets, commas and colons outside strings. JSON has about two of them per
 * value.
 */
const MAX_MARKS = 200_000;
const MAX_DEPTH = 200;

/** The JSON has too many values or levels. Reject the request. The message is a predicate (`is nested too deep`). */
export class JsonTooLargeError extends Error {}

/** Throws SyntaxError or JsonTooLargeError. */
export function parseJson(text: string): unknown {
  // RFC 8259, section 8.1: parsers may ignore a byte order mark.
  const bare = text.charCodeAt(0) === BYTE_ORDER_MARK ? text.slice(1) : text;
  measure(bare);
  return JSON.parse(bare);
}

/**
 * Applies the limits of `parseJson` to a value that was parsed elsewhere. Returns `remaining` minus the number of
 * structural characters of the value.
 */
export function remainingMarks(value: unknown, remaining = MAX_MARKS): number {
  const waiting: { value: unknown; depth: number }[] = [{ value, depth: 0 }];
  for (let next = waiting.pop(); next; next = waiting.pop()) {
    if (typeof next.value !== 'object' || next.value === null) continue;
    const depth = next.depth + 1;
    if (depth > MAX_DEPTH) throw tooDeep();
    const values = Object.values(next.value);
    remaining -= values.length + (Array.isArray(next.value) ? 1 : values.length + 1);
    if (remaining < 0) throw tooMany();
    for (const child of values) waiting.push({ value: child, depth });
  }
  return remaining;
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

/** Index of the quotation mark that ends the string starting at `start`, or the end of the text. */
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
