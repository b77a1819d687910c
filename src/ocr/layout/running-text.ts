/**
 * Finds the running heads, footers and page numbers of scanned pages: rows near the edge of a page that are set apart
 * from its text, and that also stand on a page nearby. A row may be recognized differently on each page, so the text is
 * compared by its distance.
 */
import type { OcrLine, OcrPage } from '../hocr.ts';

export interface NumberedPage {
  /** From 1. */
  readonly number: number;
  readonly page: OcrPage;
}

/** Share of the page height, at the top and the bottom, in which running text is searched. */
const EDGE = 0.13;
/** Number of rows examined at each edge. */
const MAX_ROWS = 3;
/** Number of pages before and after that are compared. Left and right pages often have different heads. */
const NEAR_PAGES = 2;
/** Page numbers without other text are compared with more pages, because some pages lack one. */
const NEAR_NUMBERS = 6;
/** Largest difference of the vertical positions, as a share of the page height: scans are shifted. */
const SAME_PLACE = 0.03;
/** Smallest share of equal letters of two texts that are the same. */
const SAME_TEXT = 0.8;
const MIN_LETTERS = 3;
/** Smallest gap to the text, in multiples of the usual gap between rows of the page, and of the height of the row. */
const GAP_ROWS = 1.6;
const GAP_HEIGHTS = 0.6;

interface Row {
  readonly lines: OcrLine[];
  readonly top: number;
  readonly bottom: number;
}

interface EdgeRow extends Row {
  readonly place: 'top' | 'bottom';
  /** Distance of its middle from the top of the page, as a share of the page height. */
  readonly y: number;
  /** Its letters in lower case, without digits and signs. */
  readonly letters: string;
  /** The differences between its numbers and the number of the page. */
  readonly distances: readonly number[];
  /** Whether it consists only of a number. */
  readonly alone: boolean;
  readonly apart: boolean;
}

/** The largest share of the words that is running text. */
const MAX_SHARE = 0.5;

/**
 * The pages without their running text. A page without neighbors stays as it is. If most of the words would go, they are
 * the content of these pages, and stay.
 */
export function withoutRunningText(pages: readonly NumberedPage[]): OcrPage[] {
  const edges = pages.map(edgeRowsOf);
  const whole = pages.map(({ page }) => page);
  const bare = whole.map((page, at) => {
    const dropped = new Set(runningRows(at, pages, edges).flatMap(({ lines }) => lines));
    return dropped.size === 0 ? page : { ...page, lines: page.lines.filter((line) => !dropped.has(line)) };
  });
  return wordsOf(bare) < (1 - MAX_SHARE) * wordsOf(whole) ? whole : bare;
}

const wordsOf = (pages: readonly OcrPage[]): number =>
  pages.reduce((sum, { lines }) => sum + lines.reduce((words, line) => words + line.words.length, 0), 0);

/** From the edge inwards, until a row is not repeated. Text between running text and the edge would be lost otherwise. */
function runningRows(
  at: number,
  pages: readonly NumberedPage[],
  edges: readonly (readonly EdgeRow[])[],
): readonly EdgeRow[] {
  return (['top', 'bottom'] as const).flatMap((place) => {
    const rows = edges[at]!.filter((row) => row.place === place);
    const end = rows.findIndex((row) => !isRepeated(row, at, pages, edges));
    const running = end < 0 ? rows : rows.slice(0, end);
    // The innermost of them has to be apart from the text, or they are its first lines: the head of a table, for example.
    while (running.length > 0 && !running.at(-1)!.apart) running.pop();
    return running;
  });
}

function edgeRowsOf({ number, page }: NumberedPage): EdgeRow[] {
  const rows = rowsOf(page);
  const gaps = rows.slice(1).map((row, at) => row.top - rows[at]!.bottom);
  const usual = gaps.toSorted((one, two) => one - two)[gaps.length >> 1] ?? 0;
  const isApart = (row: Row, gap: number | undefined) =>
    gap === undefined || gap > Math.max(GAP_ROWS * usual, GAP_HEIGHTS * (row.bottom - row.top));
  const described = (row: Row, place: EdgeRow['place'], gap: number | undefined): EdgeRow => ({
    ...row,
    place,
    y: (row.top + row.bottom) / 2 / page.height,
    ...textFacts(row, number),
    apart: isApart(row, gap),
  });
  const top = rows.slice(0, MAX_ROWS).map((row, at) => described(row, 'top', gaps[at]));
  const bottom = rows
    .slice(-MAX_ROWS)
    .reverse()
    .map((row, at) => described(row, 'bottom', gaps[gaps.length - 1 - at]));
  return [...top.filter(({ y }) => y < EDGE), ...bottom.filter(({ y }) => y > 1 - EDGE)];
}

/** Lines beside each other form a row. From top to bottom. */
function rowsOf({ lines }: OcrPage): Row[] {
  const rows: { lines: OcrLine[]; top: number; bottom: number }[] = [];
  for (const line of lines.toSorted((one, two) => one.box.top - two.box.top)) {
    const { top, bottom } = line.box;
    const row = rows.at(-1);
    const shared = row ? Math.min(row.bottom, bottom) - Math.max(row.top, top) : 0;
    if (row && shared > 0.5 * Math.min(row.bottom - row.top, bottom - top)) {
      row.lines.push(line);
      row.bottom = Math.max(row.bottom, bottom);
    } else rows.push({ lines: [line], top, bottom });
  }
  return rows;
}

function textFacts({ lines }: Row, page: number): Pick<EdgeRow, 'letters' | 'distances' | 'alone'> {
  const text = lines
    .toSorted((one, two) => one.box.left - two.box.left)
    .flatMap(({ words }) => words.map((word) => word.text))
    .join(' ');
  const letters = text.toLowerCase().replaceAll(/[^\p{L}]/gu, '');
  const distances = [...text.matchAll(/\d{1,5}/g)].map(([digits]) => Number(digits) - page);
  return { letters, distances, alone: letters === '' && distances.length === 1 };
}

function isRepeated(
  row: EdgeRow,
  at: number,
  pages: readonly NumberedPage[],
  edges: readonly (readonly EdgeRow[])[],
): boolean {
  const reach = row.alone ? NEAR_NUMBERS : NEAR_PAGES;
  const { number } = pages[at]!;
  return pages.some(
    (other, near) =>
      near !== at && Math.abs(other.number - number) <= reach && edges[near]!.some((one) => isSame(row, one)),
  );
}

function isSame(one: EdgeRow, two: EdgeRow): boolean {
  if (one.place !== two.place) return false;
  if (one.alone || two.alone) return one.alone && two.alone && one.distances[0] === two.distances[0];
  if (Math.abs(one.y - two.y) > SAME_PLACE) return false;
  const longer = Math.max(one.letters.length, two.letters.length);
  return (
    Math.min(one.letters.length, two.letters.length) >= MIN_LETTERS &&
    editDistance(one.letters, two.letters) <= (1 - SAME_TEXT) * longer
  );
}

/** Levenshtein distance. */
function editDistance(one: string, two: string): number {
  let above = Array.from({ length: two.length + 1 }, (_, at) => at);
  for (let i = 1; i <= one.length; i++) {
    const row = [i];
    for (let j = 1; j <= two.length; j++) {
      const replaced = above[j - 1]! + (one[i - 1] === two[j - 1] ? 0 : 1);
      row.push(Math.min(replaced, above[j]! + 1, row[j - 1]! + 1));
    }
    above = row;
  }
  return above[two.length]!;
}
