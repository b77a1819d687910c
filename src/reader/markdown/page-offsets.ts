/** Where the pages of a document are in its Markdown, and how changes of the text move them. */
import type { PageStart } from './blocks.ts';

export interface PageOffsets {
  /** In order. Pages without content start where the next one does. */
  readonly starts: readonly PageStart[];
  /** Where the last page ends. */
  readonly end: number;
}

/** The same pages, `by` characters further on. */
export const shiftPages = ({ starts, end }: PageOffsets, by: number): PageOffsets => ({
  starts: starts.map(({ page, start }) => ({ page, start: Math.max(0, start + by) })),
  end: Math.max(0, end + by),
});

/** The same pages after `clean` removed characters of the text. */
export function cleanPages(pages: PageOffsets, text: string, clean: (text: string) => string): PageOffsets {
  if (clean(text).length === text.length) return pages;
  let before = 0;
  let length = 0;
  const moved = (offset: number) => {
    length += clean(text.slice(before, offset)).length;
    before = Math.max(before, offset);
    return length;
  };
  return { starts: pages.starts.map(({ page, start }) => ({ page, start: moved(start) })), end: moved(pages.end) };
}
