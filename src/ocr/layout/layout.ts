/**
 * Derives the structure of a page from its boxes: ruled tables first (`ruled-tables.ts`), then other tables and columns
 * (`reading-order.ts`), then headings, paragraphs and lists in each column (`paragraphs.ts`).
 */
import type { OcrPage, OcrWord } from '../hocr.ts';
import { bodySizeOf, paragraphsOf } from './paragraphs.ts';
import { regionsOf } from './reading-order.ts';
import { ruledTablesOf } from './ruled-tables.ts';
import { segmentsOf } from './segments.ts';

interface Recognized {
  /** Source words, one list for each line of the image. */
  readonly lines: readonly (readonly OcrWord[])[];
}

export type OcrBlock =
  | (Recognized & { readonly kind: 'heading'; readonly level: number; readonly text: string })
  | (Recognized & { readonly kind: 'paragraph'; readonly text: string })
  | (Recognized & { readonly kind: 'list'; readonly items: readonly OcrListItem[] })
  | OcrTable;

export interface OcrTable extends Recognized {
  readonly kind: 'table';
  readonly rows: readonly (readonly OcrCell[])[];
  /** Whether the first row names the columns. */
  readonly header: boolean;
}

export interface OcrCell {
  readonly text: string;
  /** Number of columns and rows that it spans. */
  readonly columns: number;
  readonly rows: number;
}

export interface OcrListItem {
  /** From 0. */
  readonly depth: number;
  /** The number of a numbered item as written: `2.`, `(b)`. */
  readonly mark?: string | undefined;
  readonly text: string;
}

/** Returns the blocks of a page in reading order. */
export function layOut(page: OcrPage): OcrBlock[] {
  const { tables, lines } = ruledTablesOf(page);
  const segments = [...segmentsOf(lines), ...tables.map(({ box, table }) => ({ box, size: 0, words: [], table }))];
  const bodySize = bodySizeOf(segments);
  const blocks = regionsOf(segments).flatMap((region): OcrBlock[] =>
    region.kind === 'table' ? [region] : paragraphsOf(region.lines, bodySize),
  );
  return withoutGaps(blocks);
}

/** Closes gaps in heading levels below the highest: sizes only show which heading ranks above another. */
function withoutGaps(blocks: readonly OcrBlock[]): OcrBlock[] {
  const levels = [...new Set(blocks.flatMap((block) => (block.kind === 'heading' ? [block.level] : [])))].sort();
  return blocks.map((block) =>
    block.kind === 'heading' ? { ...block, level: levels[0]! + levels.indexOf(block.level) } : block,
  );
}
