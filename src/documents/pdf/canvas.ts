/** Collects what is painted on a page: areas, ruling lines, dots and pieces of text, in painting order. */

import type { Fill, RawPiece, Rule } from './drawn-content.ts';
import { type Box, intersect } from './geometry.ts';
import type { Graphics } from './graphics.ts';
import type { MarkedContent } from './marked-content.ts';
import { paintedPath } from './path.ts';

export interface Painting {
  readonly fill: boolean;
  readonly stroke: boolean;
}

export type GrowingPiece = { -readonly [Key in keyof RawPiece]: RawPiece[Key] };

/** Maximum number of items collected on one page; the rest is ignored. */
const MAX_PIECES = 200_000;
const MAX_FILLS = 2_000;
const MAX_RULES = 20_000;
const MAX_DOTS = 5_000;

export class Canvas {
  readonly pieces: GrowingPiece[] = [];
  readonly fills: Fill[] = [];
  readonly rules: Rule[] = [];
  readonly dots: Box[] = [];
  /** Number of operators that painted something other than text. */
  graphicsCount = 0;
  /** Number of pieces in layers that are not shown. */
  switchedOff = 0;
  readonly #graphics: Graphics;
  readonly #marks: MarkedContent;
  #order = 0;
  /**
   * The unit square under a `cm` operator with nothing painted in it yet: possibly an image that is missing from the
   * operator list.
   */
  #unpainted: Box | null = null;

  constructor(graphics: Graphics, marks: MarkedContent) {
    this.#graphics = graphics;
    this.#marks = marks;
  }

  /** Returns the next position in painting order. */
  takePlace(): number {
    return this.#order++;
  }

  /** The last painted piece, if nothing was painted after it. */
  get lastPiece(): GrowingPiece | undefined {
    const last = this.pieces[this.pieces.length - 1];
    return last && last.order === this.#order - 1 ? last : undefined;
  }

  get isFullOfText(): boolean {
    return this.pieces.length >= MAX_PIECES;
  }

  addFill(box: Box, color: string | null, image = false): void {
    this.graphicsCount += 1;
    const seen = intersect(box, this.#graphics.state.clip);
    if (this.fills.length >= MAX_FILLS || seen.x1 - seen.x0 < 3 || seen.y1 - seen.y0 < 3) return;
    this.fills.push({ ...seen, color, order: this.takePlace(), image, mark: this.#marks.innermost.mark });
  }

  addPicture(): void {
    this.addFill(this.#graphics.seen(0, 0, 1, 1), null, true);
  }

  /** Called after `cm`: its unit square may be the box of an image. */
  expectPicture(): void {
    const box = this.#graphics.seen(0, 0, 1, 1);
    this.#unpainted = box.x1 - box.x0 > 8 && box.y1 - box.y0 > 8 ? box : null;
  }

  expectNoPicture(): void {
    this.#unpainted = null;
  }

  /** Called where the effect of `cm` ends. If nothing was painted there, an image is assumed. */
  addExpectedPicture(): void {
    if (this.#unpainted) this.addFill(this.#unpainted, null, true);
    this.#unpainted = null;
  }

  /** `points` are packed as in PDF.js. `bounds` is the visible box of the path, if any. */
  addPath(points: Float32Array, bounds: Box | null, painting: Painting): void {
    const { matrix, fill, stroke, fillOpacity, blended, lineWidth } = this.#graphics.state;
    this.graphicsCount += 1;
    this.#unpainted = null;
    const { areas, rules } = paintedPath(points, matrix, { ...painting, lineWidth });
    const color = fillOpacity < 0.95 || blended ? null : fill;
    for (const area of areas) this.addFill(area, color);
    if (bounds) this.#addDot(bounds);
    // A ruling line in the color of the paper is invisible.
    if (!isPaper(painting.stroke ? stroke : fill)) for (const rule of rules) this.#addRule(rule);
  }

  #addDot(box: Box): void {
    const wide = box.x1 - box.x0;
    const high = box.y1 - box.y0;
    const round = wide > 1.5 && wide < 9 && high > 0.8 * wide && wide > 0.8 * high;
    if (round && this.dots.length < MAX_DOTS) this.dots.push(box);
  }

  #addRule(rule: Rule): void {
    const seen = intersect(rule, grown(this.#graphics.state.clip));
    if (this.rules.length < MAX_RULES && seen.x1 >= seen.x0 && seen.y1 >= seen.y0) {
      this.rules.push({ ...seen, upright: rule.upright });
    }
  }
}

const isPaper = (color: string | null): boolean => color === '#ffffff';

/** Widens a box by one point, because lines on the edge of the visible area are visible. */
const grown = ({ x0, y0, x1, y1 }: Box): Box => ({ x0: x0 - 1, y0: y0 - 1, x1: x1 + 1, y1: y1 + 1 });
