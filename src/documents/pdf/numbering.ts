/** Numbers of headings (`3.1`, `IV.`, `B.`), and whether they form a sequence over the document. */

export interface Numbering {
  readonly kind: 'decimal' | 'roman' | 'letter';
  /** `3.1` is [3, 1]. */
  readonly values: readonly number[];
  /** Whether a dot or bracket follows a single number, as in lists. */
  readonly dotted: boolean;
}

const DECIMAL = /^(\d{1,2}(?:\.\d{1,2}){0,4})(\.|\))?\s+["“«(]?[\p{Lu}\p{Lo}]/u;
/** `2-5-`, as in Persian and Chinese documents. Without the last hyphen it would be a range. */
const HYPHENATED = /^(\d{1,2}(?:-\d{1,2}){0,3})-\s+[\p{Lu}\p{Lo}]/u;
const ROMAN = /^([IVX]{1,5})\.\s+\p{Lu}{2}/u;
const LETTER = /^([A-Z])\.\s+\p{Lu}/u;
const MAX_FIRST = 40;

/** Null for text without a number, and for numbers that are part of the text: `12 May`. */
export function numberingOf(text: string): Numbering | null {
  const decimal = DECIMAL.exec(text) ?? HYPHENATED.exec(text);
  if (decimal) {
    const values = decimal[1]!.split(/[.-]/).map(Number);
    if (values[0]! > MAX_FIRST || MONTH.test(text)) return null;
    return { kind: 'decimal', values, dotted: decimal[2] !== undefined && values.length === 1 };
  }
  const roman = ROMAN.exec(text)?.[1];
  if (roman) return { kind: 'roman', values: [romanValue(roman)], dotted: false };
  const letter = LETTER.exec(text)?.[1];
  return letter ? { kind: 'letter', values: [letter.charCodeAt(0) - BEFORE_A], dotted: false } : null;
}

const MONTH =
  /^\d{1,2}\.?\s+(?:jan|feb|mar|apr|ma[iyr]|jun|jul|aug|sep|okt|oct|nov|de[cz]|fév|avr|juin|août|ene|abr|ago|dic)/i;
const BEFORE_A = 0x40;
const ROMAN_VALUES: Readonly<Record<string, number>> = { I: 1, V: 5, X: 10 };

const romanValue = (roman: string): number =>
  Array.from(roman, (sign) => ROMAN_VALUES[sign]!).reduce(
    (sum, value, at, all) => sum + (value < (all[at + 1] ?? 0) ? -value : value),
    0,
  );

/** 0 without a decimal number, whose depth is the only one that is known. */
export const depthOf = (numbering: Numbering | null): number =>
  numbering?.kind === 'decimal' && !(numbering.dotted && numbering.values.length > 1) ? numbering.values.length : 0;

/**
 * Whether the number can make a heading of text in body size: `2. Word` is rather an item of a list, `2 Word` and
 * `2.1 Word` are not.
 */
export const isNumbered = ({ dotted }: Numbering): boolean => !dotted;

/** A sequence that is not confirmed by headings in other type must have this many members. */
const MIN_SEQUENCE = 3;

interface Numbered {
  readonly numbering: Numbering | null;
  readonly text: string;
}

/**
 * The candidates whose numbers continue each other: 1, 1.1, 1.2, 2. Headings that are known already continue the
 * sequence too.
 */
export function sequenceOf<Candidate extends Numbered>(
  candidates: readonly Candidate[],
  known: ReadonlySet<Candidate>,
): Candidate[] {
  const found: Candidate[] = [];
  for (const kind of ['decimal', 'roman', 'letter'] as const) {
    let before: readonly number[] = [];
    const members: Candidate[] = [];
    let isConfirmed = false;
    for (const candidate of candidates) {
      const { numbering } = candidate;
      if (numbering?.kind !== kind) continue;
      if (known.has(candidate)) {
        before = numbering.values;
        isConfirmed = true;
      } else if (continues(numbering.values, before) || (kind === 'letter' && numbering.values[0] === 1)) {
        before = numbering.values;
        members.push(candidate);
      }
    }
    if (isConfirmed || members.length >= MIN_SEQUENCE) found.push(...members);
  }
  return found;
}

/** Whether a number follows another: the next one at its depth or further out, or the first one a level deeper. */
function continues(values: readonly number[], before: readonly number[]): boolean {
  const last = values.length - 1;
  if (values.length > before.length + 1) return false;
  if (!values.slice(0, last).every((value, at) => value === before[at])) return false;
  return values[last] === (before[last] ?? 0) + 1;
}
