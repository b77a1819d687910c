/** The Markdown of each page of a document. */
import type { Page } from '#reader/index.ts';

export interface PageText {
  /** Counted from 1. */
  readonly number: number;
  readonly text: string;
  readonly width?: number | undefined;
  readonly height?: number | undefined;
}

/** A document without pages is one page. */
export function pageTexts({ content = '', pages }: Page): PageText[] {
  if (!pages) return [{ number: 1, text: content }];
  return pages.map(({ number, start, end, width, height }) => ({
    number,
    text: content.slice(start, end),
    width,
    height,
  }));
}
