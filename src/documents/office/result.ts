/** Pages of a document as they are handed out. */
import type { DocumentPage, ParseOptions } from '../document.ts';

export const CUT_OFF = 'The document is damaged: what follows the damage is missing';
export const TOO_LONG = 'The document is longer than may be worked on: its end is missing';

/** The page that was asked for, or all; a document of one page is taken for one without pages. */
export function pickPages(
  pages: readonly DocumentPage[],
  { page }: ParseOptions,
): { readonly pages: readonly DocumentPage[]; readonly pageCount: number | undefined } {
  const picked = page === undefined ? undefined : pages[page - 1];
  return { pages: picked ? [picked] : pages, pageCount: pages.length > 1 ? pages.length : undefined };
}
