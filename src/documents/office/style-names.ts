/** What the names of built-in styles say; writers have the same ones, in lower case and English here. */
import { Inline } from './inline.ts';
import type { ListPlace } from './lists.ts';

/** The level of titles: above the first headings, and like them in HTML. */
export const TITLE = 0;

/** 1 to 9, or TITLE; of a style by its own name and those of the styles that it is based on, nearest first. */
export function headingLevelOf(names: readonly string[]): number | undefined {
  for (const name of names) {
    if (name === 'title') return TITLE;
    const found = /^heading ([1-9])$/.exec(name);
    if (found) return Number(found[1]);
  }
  return undefined;
}

/** h1 to h6. */
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

/** A table of contents is a list of its headings; page numbers mean nothing without pages. */
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

/** Text that is all in a code font is code, but for cells, where that is only a look. */
export function kindOf(names: readonly string[], inline: Inline, inTable: boolean): 'text' | 'quote' | 'code' {
  if (names.some((name) => QUOTES.has(name))) return 'quote';
  if (names.some((name) => CODES.test(name))) return 'code';
  return !inTable && inline.isCode ? 'code' : 'text';
}
