/** Where the blocks of a document's Markdown stand in the document. */
import type { PageBox } from '#documents/marks.ts';
import type { MarkdownTrace } from '../markdown/trace.ts';
import { type Places, placeOf } from './take-places.ts';

/** A block of the content, `start` and `end` in UTF-16 code units. */
export interface PlacedBlock {
  readonly start: number;
  readonly end: number;
  readonly page: number;
  readonly box?: PageBox | undefined;
}

/** `whole` is the content before it is truncated; `linesBefore` the number of its lines before the Markdown. */
export function placedBlocks(trace: MarkdownTrace, whole: string, linesBefore: number, places: Places): PlacedBlock[] {
  const starts = lineStarts(whole);
  return trace.blocks.flatMap(({ line, lines, source }) => {
    const { page, box } = source ? placeOf(source, places) : {};
    if (page === undefined) return [];
    const first = line + linesBefore;
    const end = (starts[first + lines] ?? whole.length + 1) - 1;
    return [{ start: starts[first]!, end, page, ...(box && { box }) }];
  });
}

/** Offset of each line. */
export function lineStarts(text: string): number[] {
  const starts = [0];
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) starts.push(at + 1);
  return starts;
}

/**
 * The place of a range: the page where it begins, and the box around those of its blocks that have a box on this page.
 */
export function placeOfRange(
  blocks: readonly PlacedBlock[],
  { start, end }: { readonly start: number; readonly end: number },
): { page?: number; box?: PageBox } {
  const inside = blocks.filter((block) => block.end > start && block.start < end);
  const [first] = inside;
  if (!first) return {};
  const boxes = inside.flatMap(({ page, box }) => (page === first.page && box ? [box] : []));
  return { page: first.page, ...(boxes.length > 0 && { box: around(boxes) }) };
}

function around(boxes: readonly PageBox[]): PageBox {
  const x = Math.min(...boxes.map((box) => box.x));
  const y = Math.min(...boxes.map((box) => box.y));
  const right = Math.max(...boxes.map((box) => box.x + box.width));
  const bottom = Math.max(...boxes.map((box) => box.y + box.height));
  const tenths = (points: number) => Math.round(points * 10) / 10;
  return { page: boxes[0]!.page, x, y, width: tenths(right - x), height: tenths(bottom - y) };
}
