/** Selects the pages of a result. */
import type { DocumentPage, ParseOptions } from '../document.ts';

export const CUT_OFF = 'The document is damaged: the part after the damage is missing';
export const TOO_LONG = 'The document is too long: its end is missing';

/** Returns the requested page, or all. A document with one page counts as a document without pages. */
export function selectPages(
  pages: readonly DocumentPage[],
  { page }: ParseOptions,
): { readonly pages: readonly DocumentPage[]; readonly pageCount: number | undefined } {
  const picked = page === undefined ? undefined : pages[page - 1];
  return { pages: picked ? [picked] : pages, pageCount: pages.length > 1 ? pages.length : undefined };
}
