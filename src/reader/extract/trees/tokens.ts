/**
 * Splits names (classes, ids, roles) and short texts into tokens and hashes each one. Hashing avoids a slice of the
 * text for every token, of which most are unknown to the token model.
 */

const A = 0x61;
const Z = 0x7a;
const UPPER_A = 0x41;
const UPPER_Z = 0x5a;
const ZERO = 0x30;
const NINE = 0x39;
const UNDERSCORE = 0x5f;

/** Names with fewer or more letters are rarely words. */
const MIN_NAME_LETTERS = 2;
const MAX_NAME_LETTERS = 15;

/** Receives the hash of a token, and its start and end in the text. */
export type VisitToken = (hash: number, start: number, end: number) => void;

/** The hash of a token in lower case; equal to what the visitors below pass. */
export function tokenHash(token: string): number {
  let hash = 0;
  for (let at = 0; at < token.length; at++) hash = step(hash, token.charCodeAt(at));
  return hash;
}

/** Combines the hashes of two consecutive tokens. */
export const pairHash = (first: number, second: number): number => (Math.imul(first, 0x01000193) ^ second) & MASK;

/** Hashes fit into a small integer of V8. */
const MASK = 0x3fff_ffff;
const step = (hash: number, unit: number): number => (Math.imul(hash, 31) + unit) & MASK;

/** Visits the words of a name: runs of ASCII letters, split where a capital follows a small letter (`navBar`). */
export function visitNameTokens(text: string, visit: VisitToken): void {
  let hash = 0;
  let start = 0;
  let wasSmall = false;
  for (let at = 0; at <= text.length; at++) {
    const unit = at < text.length ? text.charCodeAt(at) : 0;
    const isCapital = unit >= UPPER_A && unit <= UPPER_Z;
    const isSmall = unit >= A && unit <= Z;
    if ((!isCapital && !isSmall) || (isCapital && wasSmall)) {
      const letters = at - start;
      if (letters >= MIN_NAME_LETTERS && letters <= MAX_NAME_LETTERS) visit(hash, start, at);
      hash = 0;
      start = isCapital ? at : at + 1;
    }
    if (isCapital || isSmall) hash = step(hash, isCapital ? unit + 32 : unit);
    wasSmall = isSmall;
  }
}

/** Visits the words of a text in lower case: runs of letters, digits and underscores that are not only digits. */
export function visitTextTokens(text: string, visit: VisitToken): void {
  let hash = 0;
  let start = 0;
  let onlyDigits = true;
  for (let at = 0; at <= text.length; at++) {
    const unit = at < text.length ? text.charCodeAt(at) : 0;
    if (isWordUnit(unit)) {
      hash = step(hash, unit);
      onlyDigits &&= unit >= ZERO && unit <= NINE;
      continue;
    }
    if (at > start && !onlyDigits) visit(hash, start, at);
    hash = 0;
    start = at + 1;
    onlyDigits = true;
  }
}

function isWordUnit(unit: number): boolean {
  if (unit < 0x80) return (unit >= A && unit <= Z) || (unit >= ZERO && unit <= NINE) || unit === UNDERSCORE;
  return !(
    unit < 0xc0 ||
    (unit >= 0x2000 && unit <= 0x2bff) ||
    (unit >= 0x3000 && unit <= 0x303f) ||
    (unit >= 0xff00 && unit <= 0xff0f) ||
    unit === 0xfeff
  );
}
