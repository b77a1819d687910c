/** Characters that a person cannot see: control characters, which terminals execute, and characters without a glyph. */

// C0 without tab and line breaks, DEL and C1 (ECMA-48). U+001B and U+009B start terminal commands; U+001D separates
// our chunks.
const CONTROLS = /[\u0000-\u0008\u000b\u000e-\u001f\u007f-\u009f]/g;
// These characters, and all default-ignorable code points of Unicode; for surrogate pairs, the first half.
const SUSPECT = new RegExp(
  '[\\u0000-\\u0008\\u000b\\u000e-\\u001f\\u007f-\\u009f\\u00ad\\u034f\\u061c\\u115f\\u1160\\u17b4\\u17b5\\u180b-\\u180f' +
    '\\u200b-\\u200f\\u202a-\\u202e\\u2060-\\u206f\\u3164\\ufe00-\\ufe0f\\ufeff\\uffa0\\ufff0-\\ufff8\\ud82f\\ud834\\udb40]',
);
// A single joiner or style selector joins, splits or styles letters. A run of the same character, or a longer mixed
// run, only carries hidden data; an emoji uses at most one selector and one joiner.
const RUNS = new RegExp(
  [
    '(?<flag>\\u{1f3f4}[\\u{e0061}-\\u{e007a}]{2,6}\\u{e007f})',
    '[\\u{e0000}-\\u{e007f}]+',
    '[\\u180e\\u200b-\\u200f\\u2060-\\u2064\\ufeff]{2,}',
    '[\\ufe00-\\ufe0f\\u{e0100}-\\u{e01ef}]{2,}',
    '\\u00ad{2,}',
    '\\p{Default_Ignorable_Code_Point}{3,}',
  ].join('|'),
  'gu',
);
// Soft hyphens and direction marks only control layout.
const LAYOUT = /[\u00ad\u202a-\u202e\u2066-\u2069]/g;

/**
 * Removes text that only machines see. Tag characters have one legitimate use: in the flag emoji of a region, which is
 * a black flag followed by tag characters.
 */
export function withoutHiddenCharacters(text: string): string {
  if (!SUSPECT.test(text)) return text;
  return text.replace(RUNS, (_, flag?: string) => flag ?? '').replace(LAYOUT, '');
}

/** Whether a text contains enough hidden characters to encode a hidden message. */
export const carriesHiddenText = (text: string): boolean =>
  text.replace(RUNS, (_, flag?: string) => flag ?? '') !== text;

/** Text without control characters other than tab, line feed, form feed and carriage return. */
export const withoutControlCharacters = (text: string): string =>
  SUSPECT.test(text) ? text.replace(CONTROLS, ' ') : text;

/**
 * Text without hidden characters. Control characters other than tab, line feed, form feed and carriage return become
 * spaces.
 */
export const cleanCharacters = (text: string): string =>
  SUSPECT.test(text) ? withoutHiddenCharacters(text.replace(CONTROLS, ' ')) : text;

/** Applies cleanCharacters() to every string in plain data, including keys. */
export function cleanStrings<T>(data: T): T {
  if (typeof data === 'string') return cleanCharacters(data) as T;
  if (Array.isArray(data)) return data.map(cleanStrings) as T;
  if (data === null || typeof data !== 'object') return data;
  return Object.fromEntries(
    Object.entries(data).map(([key, value]) => [cleanCharacters(key), cleanStrings(value)]),
  ) as T;
}
