/** Tokenizes Rich Text Format (version 1.9.1): groups, control words, and bytes of text. */

export interface TokenHandler {
  open(): void;
  close(): void;
  /** A control word or symbol without its backslash; `parameter` is `undefined` if it has none. */
  control(word: string, parameter: number | undefined): void;
  /** `\'xx`. */
  byte(value: number): void;
  /** Bytes of text without line ends, from `start` (inclusive) to `end` (exclusive). */
  text(start: number, end: number): void;
}

const BACKSLASH = 0x5c;
const OPEN = 0x7b;
const CLOSE = 0x7d;
const LF = 0x0a;
const CR = 0x0d;
const MINUS = 0x2d;
const SPACE = 0x20;
const APOSTROPHE = 0x27;

const isLetter = (code: number): boolean => (code >= 0x61 && code <= 0x7a) || (code >= 0x41 && code <= 0x5a);
const isDigit = (code: number): boolean => code >= 0x30 && code <= 0x39;
const hexDigit = (code: number): number =>
  isDigit(code)
    ? code - 0x30
    : code >= 0x61 && code <= 0x66
      ? code - 0x57
      : code >= 0x41 && code <= 0x46
        ? code - 0x37
        : -1;

const LONGEST_WORD = 32;
const LARGEST = 2_147_483_647;

export function readTokens(bytes: Uint8Array, handler: TokenHandler): void {
  const { length } = bytes;
  let at = 0;
  while (at < length) {
    const code = bytes[at]!;
    if (code === OPEN) {
      handler.open();
      at++;
    } else if (code === CLOSE) {
      handler.close();
      at++;
    } else if (code === BACKSLASH) at = readControl(bytes, at + 1, handler);
    else if (code === LF || code === CR || code === 0) at++;
    else {
      const start = at;
      do at++;
      while (at < length && !isSpecial(bytes[at]!));
      handler.text(start, at);
    }
  }
}

const isSpecial = (code: number): boolean =>
  code === BACKSLASH || code === OPEN || code === CLOSE || code === LF || code === CR || code === 0;

/** Reads the control after a backslash. Returns the next position. */
function readControl(bytes: Uint8Array, start: number, handler: TokenHandler): number {
  const code = bytes[start];
  if (code === undefined) return start;
  if (code === APOSTROPHE) {
    const value = hexDigit(bytes[start + 1] ?? 0) * 16 + hexDigit(bytes[start + 2] ?? 0);
    if (hexDigit(bytes[start + 1] ?? 0) < 0 || hexDigit(bytes[start + 2] ?? 0) < 0) return start + 1;
    handler.byte(value);
    return start + 3;
  }
  if (!isLetter(code)) {
    handler.control(String.fromCharCode(code), undefined);
    return start + 1;
  }
  let at = start;
  while (at < bytes.length && at - start < LONGEST_WORD && isLetter(bytes[at]!)) at++;
  const word = String.fromCharCode(...bytes.subarray(start, at));
  const negative = bytes[at] === MINUS && isDigit(bytes[at + 1] ?? 0);
  if (negative) at++;
  let parameter: number | undefined;
  for (; isDigit(bytes[at] ?? 0); at++) parameter = Math.min((parameter ?? 0) * 10 + bytes[at]! - 0x30, LARGEST);
  if (bytes[at] === SPACE) at++;
  if (word === 'bin') return Math.min(bytes.length, at + (negative ? 0 : (parameter ?? 0)));
  handler.control(word, negative && parameter !== undefined ? -parameter : parameter);
  return at;
}
