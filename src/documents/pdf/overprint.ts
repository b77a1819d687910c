/**
 * Detects glyphs that are painted twice at nearly the same place, which simulates bold text or a shadow. Only the first
 * one is kept. Glyphs that may differ in visibility are not compared here but by `withoutRepeats`, later.
 */
import type { GrowingPiece } from './canvas.ts';
import type { RawPiece, Style } from './drawn-content.ts';
import { WEIGHTS } from './fonts.ts';
import type { Box } from './geometry.ts';

/** What glyphs of one operator share, as far as it determines whether they can be seen. */
export interface Paint {
  /** Height of the text on the page. */
  readonly seenSize: number;
  readonly color: string | null;
  readonly painted: boolean;
  readonly clip: Box;
  /** Number of areas painted before: a later area may cover the text. */
  readonly areas: number;
}

/** The piece that glyphs became a part of, as soon as it is finished. */
export interface Word {
  piece: GrowingPiece | null;
}

export interface PaintedGlyph {
  readonly text: string;
  readonly x: number;
  readonly y: number;
  /** Width on the page. */
  readonly width: number;
  readonly paint: Paint;
  readonly word: Word;
}

/** Largest distance between two copies: as a share of the glyph's width and of the font size, and in points. */
const SAME_PLACE_WIDTH = 0.5;
const SAME_PLACE_SIZE = 0.25;
const SAME_PLACE = 3;
/** Size of the squares, in points, by which glyphs are looked up: large enough that one lookup mostly suffices. */
const CELL = 10;
const MAX_CELL_GLYPHS = 48;
const MAX_CELLS = 200_000;
/** Multiplier that makes one number of a column and a row of cells. */
const ROW = 1 << 20;

export class Overprint {
  readonly #cells = new Map<number, PaintedGlyph[]>();
  readonly #repeats = new Map<GrowingPiece, number>();

  /** Whether the glyph repeats an earlier one. If not, the glyph is stored. */
  isRepeat(glyph: PaintedGlyph): boolean {
    const { x, y, width } = glyph;
    const reach = Math.min(SAME_PLACE_WIDTH * width, SAME_PLACE_SIZE * glyph.paint.seenSize, SAME_PLACE);
    // Also false for positions that are not numbers.
    if (!(reach > 0 && Math.abs(x) < ROW && Math.abs(y) < ROW)) return false;
    const lastColumn = Math.floor((x + reach) / CELL);
    const lastRow = Math.floor((y + reach) / CELL);
    for (let column = Math.floor((x - reach) / CELL); column <= lastColumn; column++) {
      for (let row = Math.floor((y - reach) / CELL); row <= lastRow; row++) {
        for (const earlier of this.#cells.get(column * ROW + row) ?? NONE) {
          // A ligature may have the text of its narrow last letter.
          if (!isSame(earlier, glyph, Math.min(reach, SAME_PLACE_WIDTH * earlier.width))) continue;
          const { piece } = earlier.word;
          if (piece) this.#repeats.set(piece, (this.#repeats.get(piece) ?? 0) + 1);
          return true;
        }
      }
    }
    this.#store(glyph);
    return false;
  }

  #store(glyph: PaintedGlyph): void {
    const key = Math.floor(glyph.x / CELL) * ROW + Math.floor(glyph.y / CELL);
    const cell = this.#cells.get(key);
    if (cell) {
      if (cell.length < MAX_CELL_GLYPHS) cell.push(glyph);
    } else if (this.#cells.size < MAX_CELLS) this.#cells.set(key, [glyph]);
  }

  /** Marks pieces as bold if most of their glyphs were painted twice. */
  embolden(): void {
    const styles = new Map<Style, Style>();
    for (const [piece, count] of this.#repeats) {
      if (count >= 0.5 * piece.text.length) piece.style = boldOf(piece.style, styles);
    }
  }
}

const NONE: readonly PaintedGlyph[] = [];

const isSame = (one: PaintedGlyph, two: PaintedGlyph, reach: number): boolean =>
  one.text === two.text &&
  Math.abs(one.x - two.x) < reach &&
  Math.abs(one.y - two.y) < reach &&
  (one.paint === two.paint || isSamePaint(one.paint, two.paint));

const isSamePaint = (one: Paint, two: Paint): boolean =>
  one.color === two.color &&
  one.painted === two.painted &&
  one.areas === two.areas &&
  Math.abs(one.seenSize - two.seenSize) < 0.05 * two.seenSize &&
  isSameBox(one.clip, two.clip);

const isSameBox = (one: Box, two: Box): boolean =>
  one === two || (one.x0 === two.x0 && one.y0 === two.y0 && one.x1 === two.x1 && one.y1 === two.y1);

/** The bold form of a style; the same object for the same style, because styles are compared by identity. */
function boldOf(style: Style, known: Map<Style, Style>): Style {
  const bold = known.get(style) ?? { ...style, bold: true, weight: WEIGHTS.bold };
  known.set(style, bold);
  return bold;
}

/** Largest distance between two copies of a word, in multiples of the font size: shadows are further away. */
const SHADOW = 0.3;
/** Number of earlier pieces with the same text that are compared. */
const MAX_SAME_TEXT = 50;

/** Visible pieces without those that repeat the text of an earlier one at nearly the same place. */
export function withoutRepeats(pieces: readonly RawPiece[]): RawPiece[] {
  const byText = new Map<string, RawPiece[]>();
  return pieces.filter((piece) => {
    const same = byText.get(piece.text);
    if (!same) {
      byText.set(piece.text, [piece]);
      return true;
    }
    const reach = SHADOW * piece.size;
    const reachAlong = Math.min(reach, SAME_PLACE_WIDTH * Math.abs(piece.x1 - piece.x0));
    const isRepeated = same.some(
      (other) =>
        Math.abs(other.y - piece.y) < reach &&
        Math.abs(other.x0 - piece.x0) < reachAlong &&
        Math.abs(other.size - piece.size) < 0.05 * piece.size,
    );
    if (isRepeated) return false;
    same.push(piece);
    if (same.length > MAX_SAME_TEXT) same.shift();
    return true;
  });
}
