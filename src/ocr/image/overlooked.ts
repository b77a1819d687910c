/**
 * Finds overlooked text: isolated pieces of a line, such as a single digit in a cell, that were ignored as dirt or read
 * with low confidence. All such pieces are read again, side by side.
 */
import type { OcrBox, OcrLine, OcrPage, OcrWord } from '../hocr.ts';
import type { Sheet } from './components.ts';

/** A short, separate word below this confidence is considered uncertain. */
const DOUBTED = 0.85;
const SHORT = 3;
/** Minimum distance of a separate piece from other words, as a multiple of its height. */
const ALONE = 0.9;
const MAX_PIECES = 200;
/**
 * Minimum confidence of a new reading. To replace an old reading, its confidence must also be higher than that of the
 * old one.
 */
const SURE = 0.6;
/** A piece belongs to a word if more than this share of it is in the word's box. */
const COVERED = 0.2;
/** White margin around a cut-out piece, in pixels. */
const MARGIN = 3;

/** A region to read again, and the word that was read there. */
export interface Overlooked {
  readonly box: OcrBox;
  readonly word?: OcrWord | undefined;
}

export function findOverlooked(page: OcrPage, pieces: readonly OcrBox[]): Overlooked[] {
  const words = page.lines.flatMap((line) => line.words);
  const inRows = indexByStripe(words);
  const found: Overlooked[] = [];
  for (const piece of pieces) {
    const beside = near(inRows, piece);
    const [word, ...others] = beside.filter(({ box }) => share(piece, box) > COVERED);
    if (!beside.some((other) => other !== word && isLevel(piece, other.box)) || others.length > 0) continue;
    const isDoubted =
      word && word.confidence < DOUBTED && word.text.length <= SHORT && share(word.box, piece) > COVERED;
    if ((isDoubted || !word) && isAlone(piece, beside, word)) found.push({ box: widened(piece, page), word });
  }
  return found.slice(0, MAX_PIECES);
}

const widened = ({ left, top, right, bottom }: OcrBox, { width, height }: OcrPage): OcrBox => ({
  left: Math.max(0, left - MARGIN),
  top: Math.max(0, top - MARGIN),
  right: Math.min(width, right + MARGIN),
  bottom: Math.min(height, bottom + MARGIN),
});

/** Height of horizontal stripes that index the words, in pixels, so that nearby words are found quickly. */
const STRIPE = 64;

function indexByStripe(words: readonly OcrWord[]): Map<number, OcrWord[]> {
  const rows = new Map<number, OcrWord[]>();
  for (const word of words) {
    for (let row = Math.floor(word.box.top / STRIPE); row <= Math.floor(word.box.bottom / STRIPE); row++) {
      const list = rows.get(row);
      if (list) list.push(word);
      else rows.set(row, [word]);
    }
  }
  return rows;
}

function near(rows: ReadonlyMap<number, readonly OcrWord[]>, { top, bottom }: OcrBox): OcrWord[] {
  const found = new Set<OcrWord>();
  for (let row = Math.floor(top / STRIPE); row <= Math.floor(bottom / STRIPE); row++)
    for (const word of rows.get(row) ?? []) found.add(word);
  return [...found];
}

const overlap = (a: number, b: number, c: number, d: number): number => Math.max(0, Math.min(b, d) - Math.max(a, c));

/** The share of the first box that is in the second. */
const share = (a: OcrBox, b: OcrBox): number =>
  (overlap(a.left, a.right, b.left, b.right) * overlap(a.top, a.bottom, b.top, b.bottom)) /
  Math.max(1, (a.right - a.left) * (a.bottom - a.top));

const isLevel = (a: OcrBox, b: OcrBox): boolean =>
  overlap(a.top, a.bottom, b.top, b.bottom) > 0.6 * Math.min(a.bottom - a.top, b.bottom - b.top);

const isAlone = (box: OcrBox, words: readonly OcrWord[], except: OcrWord | undefined): boolean =>
  words.every(
    (word) =>
      word === except ||
      !isLevel(box, word.box) ||
      Math.max(word.box.left - box.right, box.left - word.box.right) > ALONE * (box.bottom - box.top),
  );

interface Found {
  readonly text: string;
  readonly confidence: number;
}

/** Merges the readings of the sheet into the page. */
export function mergeReadings(
  page: OcrPage,
  again: readonly Overlooked[],
  { places }: Sheet,
  read: Pick<OcrPage, 'lines'>,
): OcrPage {
  const words = read.lines.flatMap((line) => line.words);
  const readings = again.map((_, number) =>
    mostFrequent(places.filter((_place, at) => at % again.length === number).map((place) => readingAt(place, words))),
  );
  const better = new Map<OcrWord, Found>();
  const sizes = page.lines.map(({ size }) => size).sort((a, b) => a - b);
  const added: OcrLine[] = [];
  for (const [number, { box, word }] of again.entries()) {
    const reading = readings[number];
    if (!reading || reading.confidence < SURE) continue;
    if (!word) added.push({ box, size: sizes[sizes.length >> 1]!, words: [{ ...reading, box }] });
    else if (reading.confidence > word.confidence) better.set(word, reading);
  }
  const lines = page.lines.map((line) => ({
    ...line,
    words: line.words.map((word) => ({ ...word, ...better.get(word) })),
  }));
  return { ...page, lines: [...lines, ...added] };
}

function readingAt(place: OcrBox, words: readonly OcrWord[]): Found | undefined {
  const inside = words.filter(({ box }) => share(box, place) > 0.5).sort((a, b) => a.box.left - b.box.left);
  const text = inside.map((word) => word.text).join(' ');
  if (!/[\p{L}\p{N}]/u.test(text)) return undefined;
  return { text, confidence: Math.max(...inside.map((word) => word.confidence)) };
}

/** The most frequent reading of a piece, ignoring empty ones. */
function mostFrequent(readings: readonly (Found | undefined)[]): Found | undefined {
  const known = readings.filter((reading) => reading !== undefined);
  for (const { text } of known) {
    const same = known.filter((other) => other.text === text);
    if (same.length > known.length / 2)
      return { text, confidence: Math.max(...same.map(({ confidence }) => confidence)) };
  }
  return undefined;
}
