/** Follows the text operators from glyph to glyph and collects pieces of text (ISO 32000-1, 9.4). */
import type { Canvas, GrowingPiece } from './canvas.ts';
import { dingbatOf, isRightToLeft, plainText } from './characters.ts';
import type { FontFacts, RawPiece } from './drawn-content.ts';
import { type Matrix, multiply, toMatrix } from './geometry.ts';
import type { Graphics, GraphicsState } from './graphics.ts';
import type { MarkedContent } from './marked-content.ts';
import { Overprint, type Paint, type PaintedGlyph, type Word } from './overprint.ts';

export interface Glyph {
  readonly unicode: string;
  readonly width: number;
  readonly isSpace: boolean;
  readonly vmetric?: readonly number[] | null;
}

/** Properties that all glyphs of one operator share. */
interface Showing extends Paint {
  readonly state: Readonly<GraphicsState>;
  readonly font: FontFacts;
  /** From text coordinates to displayed page coordinates. */
  readonly matrix: Matrix;
  /** Direction along the text: 1 or -1. */
  readonly direction: number;
  /** In degrees, clockwise. */
  readonly angle: number;
  /** In text coordinates. */
  readonly em: number;
  /** Width of an em on the page. `seenSize` is the height of the text on the page. */
  readonly seenEm: number;
  readonly opacity: number;
  readonly mark: number | null;
  readonly artifact: boolean;
}

const UNMOVED: Matrix = [1, 0, 0, 1, 0, 0];
/** Maximum length of a piece, in letters. Longer pieces are split. */
const LONGEST_PIECE = 200;
/** A forward jump that separates words, and a backward jump that starts a new piece, in ems. */
const WORD_GAP = 0.15;
const BACK_JUMP = 0.5;
/** Distance from the center of a column of vertical text to the corresponding baseline, in ems. */
const CENTRE = 0.35;

export class Pen {
  readonly #graphics: Graphics;
  readonly #marks: MarkedContent;
  readonly #canvas: Canvas;
  readonly #overprint = new Overprint();
  /** Belongs to all glyphs of `#text`. */
  #word: Word = { piece: null };
  #matrix = UNMOVED;
  #lineX = 0;
  #lineY = 0;
  #x = 0;
  #y = 0;
  /** Text that is not yet in a piece, with its start and end. */
  #text = '';
  #start = 0;
  #end = 0;
  /** Whether there was a space since the last piece. */
  #spaced = false;

  constructor(graphics: Graphics, marks: MarkedContent, canvas: Canvas) {
    this.#graphics = graphics;
    this.#marks = marks;
    this.#canvas = canvas;
  }

  begin(): void {
    this.#startAt(UNMOVED);
  }

  /** Called after the last operator. */
  finish(): void {
    this.#overprint.embolden();
  }

  setMatrix(value: unknown): void {
    const matrix = toMatrix(value);
    if (matrix) this.#startAt(matrix);
  }

  #startAt(matrix: Matrix): void {
    this.#matrix = matrix;
    this.#lineX = this.#lineY = this.#x = this.#y = 0;
  }

  /** The distance is relative to the start of the line, not to the current position. */
  move(x: number, y: number): void {
    this.#x = this.#lineX += x;
    this.#y = this.#lineY += y;
  }

  /** Numbers move the position back, in thousandths of the font size. */
  show(glyphs: readonly (Glyph | number | null)[]): void {
    const { state } = this.#graphics;
    const { font, size, stretch } = state;
    if (!font || size === 0) return;
    const showing = this.#showing(state, font);
    this.#end = this.#x;
    for (const glyph of glyphs) {
      if (typeof glyph === 'number') {
        if (font.vertical) this.#y -= (glyph * size) / 1000;
        else this.#x -= (glyph * size * stretch) / 1000;
      } else if (glyph) {
        if (font.vertical) this.#writeDown(glyph, showing);
        else this.#writeAlong(glyph, showing);
      }
    }
    this.#finishPiece(showing);
    this.#canvas.expectNoPicture();
  }

  #showing(state: GraphicsState, font: FontFacts): Showing {
    const { size, stretch, mode } = state;
    const matrix = multiply(state.matrix, this.#matrix);
    const direction = Math.sign(size * stretch) || 1;
    const em = Math.abs(size);
    const { mark, artifact } = this.#marks.innermost;
    const outlined = mode === 1 || mode === 5;
    return {
      state,
      font,
      matrix,
      direction,
      angle: turnOf(matrix, direction) + (font.vertical ? 90 : 0),
      em,
      seenEm: em * Math.hypot(matrix[0], matrix[1]),
      seenSize: em * Math.hypot(matrix[2], matrix[3]) * font.height,
      color: outlined ? state.stroke : state.fill,
      opacity: outlined ? 1 : state.fillOpacity,
      painted: mode !== 3 && mode !== 7,
      clip: state.clip,
      areas: this.#canvas.fills.length,
      mark,
      artifact,
    };
  }

  /** Each glyph of vertical text becomes a piece; rotated pieces are later joined like any other line. */
  #writeDown(glyph: Glyph, showing: Showing): void {
    const value = plainText(glyph.unicode);
    if (value.trim() !== '') {
      this.#text = value;
      this.#finishPiece(showing);
    }
    const [down = -1000] = glyph.vmetric ?? [];
    this.#y += (down / 1000) * showing.em - showing.state.charSpacing;
  }

  #writeAlong(glyph: Glyph, showing: Showing): void {
    const { size, stretch, charSpacing, wordSpacing } = showing.state;
    const value = plainText(showing.font.dingbats ? dingbatOf(glyph.unicode) : glyph.unicode);
    if (value.trim() === '') {
      this.#finishPiece(showing);
      if (value !== '' || glyph.isSpace) this.#spaced = true;
    } else this.#write(value, glyph, showing);
    const advance = glyph.width * showing.font.scale * size * stretch;
    this.#end = this.#x + advance;
    this.#x += advance + (charSpacing + (glyph.isSpace ? wordSpacing : 0)) * stretch;
    // Every glyph of right-to-left text becomes a piece.
    if (this.#text !== '' && isRightToLeftGlyph(value)) this.#finishPiece(showing);
  }

  #write(value: string, { width }: Glyph, showing: Showing): void {
    const { matrix, state, font } = showing;
    if (this.#text !== '' && (isRightToLeftGlyph(value) || this.#hasJumped(showing))) this.#finishPiece(showing);
    const y = this.#y + state.rise;
    const glyph: PaintedGlyph = {
      text: value,
      x: placeX(matrix, this.#x, y),
      y: placeY(matrix, this.#x, y),
      width: Math.abs(width * font.scale * state.stretch * showing.seenEm),
      paint: showing,
      word: this.#word,
    };
    if (!this.#marks.isOff && this.#overprint.isRepeat(glyph)) return;
    if (this.#text === '') this.#start = this.#x;
    this.#text += value;
  }

  #hasJumped({ state, em, direction }: Showing): boolean {
    const gap = (this.#x - this.#end) * direction;
    const letterSpacing = Math.max(0, state.charSpacing * state.stretch * direction);
    return gap > Math.max(WORD_GAP * em, letterSpacing + 0.1 * em) || gap < -BACK_JUMP * em;
  }

  #finishPiece(showing: Showing): void {
    const text = this.#text;
    if (text === '') return;
    const word = this.#word;
    this.#text = '';
    this.#word = { piece: null };
    const canvas = this.#canvas;
    if (canvas.isFullOfText) return;
    if (this.#marks.isOff) {
      canvas.switchedOff += 1;
      return;
    }
    const { font, matrix, em, angle, seenSize, state } = showing;
    const [startX, endX] = font.vertical ? [this.#x - CENTRE * em, this.#x - CENTRE * em] : [this.#start, this.#end];
    const [startY, endY] = font.vertical ? [this.#y, this.#y - em] : [this.#y + state.rise, this.#y + state.rise];
    const x0 = placeX(matrix, startX, startY);
    const y = placeY(matrix, startX, startY);
    const toX = placeX(matrix, endX, endY);
    const x1 = isLevel(angle) ? toX : x0 + Math.hypot(toX - x0, placeY(matrix, endX, endY) - y);
    const before = this.#spaced ? undefined : canvas.lastPiece;
    if (before && continuesPiece(before, text, x0, y, showing)) {
      before.text += text;
      before.x1 = x1;
      before.order = canvas.takePlace();
      word.piece = before;
      return;
    }
    const piece: GrowingPiece = {
      x0,
      x1,
      y,
      size: seenSize,
      text,
      style: font.style,
      spaced: this.#spaced,
      rightToLeft: isRightToLeft(text),
      mark: showing.mark,
      artifact: showing.artifact,
      angle,
      color: showing.color,
      opacity: showing.opacity,
      painted: showing.painted,
      clip: state.clip,
      order: canvas.takePlace(),
    };
    canvas.pieces.push(piece);
    word.piece = piece;
    this.#spaced = false;
  }
}

/** Joins pieces into words even if the file positions each glyph separately. */
const continuesPiece = (before: RawPiece, text: string, x: number, y: number, showing: Showing): boolean =>
  before.style === showing.font.style &&
  isLevel(showing.angle) &&
  isLevel(before.angle) &&
  Math.abs(before.y - y) < 0.02 * showing.seenSize &&
  Math.abs(before.size - showing.seenSize) < 0.01 * showing.seenSize &&
  Math.abs(x - before.x1) < 0.1 * showing.seenSize &&
  before.mark === showing.mark &&
  before.color === showing.state.fill &&
  before.clip === showing.state.clip &&
  before.painted === showing.painted &&
  before.text.length < LONGEST_PIECE &&
  !before.rightToLeft &&
  !isRightToLeft(text);

/** The first code of right-to-left scripts. Comparing with it is faster than the test of `isRightToLeft`. */
const FIRST_RIGHT_TO_LEFT = 0x590;

const isRightToLeftGlyph = (text: string): boolean =>
  (text.length > 1 || text.charCodeAt(0) >= FIRST_RIGHT_TO_LEFT) && isRightToLeft(text);

const isLevel = (angle: number): boolean => Math.abs(angle) < 1;

const placeX = (matrix: Matrix, x: number, y: number): number => matrix[0] * x + matrix[2] * y + matrix[4];
const placeY = (matrix: Matrix, x: number, y: number): number => matrix[1] * x + matrix[3] * y + matrix[5];

const turnOf = (matrix: Matrix, direction: number): number =>
  (Math.atan2(matrix[1] * direction, matrix[0] * direction) * 180) / Math.PI;
