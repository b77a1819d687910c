/** The pages of a document as a response lists them: with their positions in the Markdown. */
import type { PageOffsets } from '../markdown/page-offsets.ts';
import type { PageFacts } from '../snapshot.ts';

/** A page, slide, sheet or chapter. */
export interface PageSpan {
  /** Counted from 1. */
  number: number;
  /** The title of a slide or chapter; the name of a sheet. */
  name?: string;
  /** The text of the page is `content.slice(start, end)`; offsets count UTF-16 code units. */
  start: number;
  end: number;
  /** In points (1/72 inch); in pixels for images. */
  width?: number;
  height?: number;
}

/** `head` is the length of the text before the Markdown. Pages beyond the end of `content` are empty. */
export function pageSpans(
  facts: readonly PageFacts[],
  { starts, end }: PageOffsets,
  { content, head }: { readonly content: string; readonly head: number },
): PageSpan[] {
  const clamp = (offset: number) => Math.min(content.length, head + offset);
  const startOf = new Map(starts.map(({ page, start }) => [page, clamp(start)]));
  return facts.map(({ number, name, width, height }, at) => {
    const start = startOf.get(number) ?? clamp(end);
    const following = facts[at + 1];
    let stop = following ? (startOf.get(following.number) ?? clamp(end)) : clamp(end);
    while (stop > start && /\s/.test(content[stop - 1]!)) stop -= 1;
    return {
      number,
      ...(name && { name }),
      start,
      end: stop,
      ...(width !== undefined && height !== undefined && { width, height }),
    };
  });
}

/** The first and last page of each range of `content`; ranges between pages count as part of the next page. */
export function pagesOfRanges(
  pages: readonly PageSpan[],
  ranges: readonly { readonly start: number; readonly end: number }[],
): [first: number, last: number][] {
  return ranges.map(({ start, end }) => {
    const first = pages.find((page) => page.end > start) ?? pages.at(-1)!;
    const last = pages.findLast((page) => page.start < end && page.end > page.start) ?? first;
    return [first.number, Math.max(first.number, last.number)];
  });
}
