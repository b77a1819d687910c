/**
 * Meaning of built-in style names: headings, lists of contents, quotes, code. All writers use the same names; this
 * table contains them in English and lower case.
 */
import { Inline } from './inline.ts';
import type { ListPlace } from './lists.ts';

/** The level of titles: above the first headings, but also h1 in HTML. */
export const TITLE = 0;

/** The heading level, 1 to 9 or TITLE. `names` are those of the style and its base styles, nearest first. */
export function headingLevelOf(names: readonly string[]): number | undefined {
  for (const name of names) {
    if (name === 'title') return TITLE;
    const found = /^heading ([1-9])$/.exec(name);
    if (found) return Number(found[1]);
  }
  return undefined;
}

/** Outline levels of Word are counted from 0; this one means body text. */
const BODY_LEVEL = 9;

/**
 * The heading level of a Word paragraph, from the names of its style and its outline level. An outline level set on
 * the paragraph or its styles overrides the style's name.
 */
export function headingOf(names: readonly string[], outlineLevel: number | undefined): number | undefined {
  const named = headingLevelOf(names);
  if (named === TITLE || outlineLevel === undefined) return named;
  return outlineLevel >= 0 && outlineLevel < BODY_LEVEL ? outlineLevel + 1 : undefined;
}

/** Maps a heading level to 1 to 6, for h1 to h6. */
export const htmlLevelOf = (heading: number): number => Math.max(1, Math.min(heading, 6));

/** The level of a line in a table of contents, counted from 0. */
export function contentsLevelOf(names: readonly string[]): number | undefined {
  for (const name of names) {
    const found = /^(?:toc|contents) ([1-9])$/.exec(name);
    if (found) return Number(found[1]) - 1;
    if (name === 'table of figures' || name === 'figure index 1') return 0;
  }
  return undefined;
}

/** A table of contents becomes a list of its headings, without page numbers. */
export function contentsLine(inline: Inline, level: number): { readonly inline: Inline; readonly list: ListPlace } {
  const line = new Inline();
  line.text(
    inline
      .plain()
      .replace(/\t[ ]*[\divxlc]+\s*$/i, '')
      .replaceAll('\t', ' '),
  );
  return { inline: line, list: { level, ordered: false, key: 'contents' } };
}

const QUOTES: ReadonlySet<string> = new Set(['quote', 'intense quote', 'quotations', 'block text', 'block quotation']);
const CODES =
  /^(?:html preformatted|preformatted text|source code|code(?: block)?|listing|macro text|program listing)$/;

/**
 * Text completely in a code font is code, except in cells, where the font is only a style. `leavesCode`: whether all of
 * the text has another font than the code font of its style.
 */
export function kindOf(
  names: readonly string[],
  inline: Inline,
  inTable: boolean,
  leavesCode = false,
): 'text' | 'quote' | 'code' {
  if (names.some((name) => QUOTES.has(name))) return 'quote';
  if (!leavesCode && names.some((name) => CODES.test(name))) return 'code';
  return !inTable && inline.isCode ? 'code' : 'text';
}
