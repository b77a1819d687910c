/** The graphics state of a page and its stack of saved states: ISO 32000-1, sections 8.4 and 9.3. */

import type { DrawingSources, FontFacts } from './drawn-content.ts';
import { type Box, intersect, type Matrix, multiply, toMatrix, transformBox } from './geometry.ts';

export interface GraphicsState {
  matrix: Matrix;
  /** Null for a pattern or no color. */
  fill: string | null;
  stroke: string | null;
  fillOpacity: number;
  blended: boolean;
  lineWidth: number;
  font: FontFacts | null;
  size: number;
  charSpacing: number;
  wordSpacing: number;
  stretch: number;
  leading: number;
  rise: number;
  mode: number;
  clip: Box;
}

/** Maximum number of nested saved states. */
const MAX_SAVED = 10_000;

export class Graphics {
  /** The current state. */
  state: GraphicsState;
  readonly #initial: Readonly<GraphicsState>;
  readonly #saved: GraphicsState[] = [];
  readonly #fontNamed: DrawingSources['font'];

  constructor({ viewport, font }: Pick<DrawingSources, 'viewport' | 'font'>) {
    const { width, height, transform } = viewport;
    this.#fontNamed = font;
    this.#initial = {
      matrix: toMatrix([...transform]) ?? [1, 0, 0, -1, 0, height],
      fill: '#000000',
      stroke: '#000000',
      fillOpacity: 1,
      blended: false,
      lineWidth: 1,
      font: null,
      size: 0,
      charSpacing: 0,
      wordSpacing: 0,
      stretch: 1,
      leading: 0,
      rise: 0,
      mode: 0,
      clip: { x0: 0, y0: 0, x1: width, y1: height },
    };
    this.state = { ...this.#initial };
  }

  save(): void {
    if (this.#saved.length < MAX_SAVED) this.#saved.push({ ...this.state });
  }

  restore(): void {
    this.state = this.#saved.pop() ?? this.state;
  }

  /** Restores the state at the start of the page. */
  reset(): void {
    this.state = { ...this.#initial };
  }

  /** Returns false if the value is not a matrix. */
  transform(value: unknown): boolean {
    const matrix = toMatrix(value);
    if (matrix) this.state.matrix = multiply(this.state.matrix, matrix);
    return matrix !== null;
  }

  /** Converts a box from the current coordinates to displayed ones. */
  seen(x0: number, y0: number, x1: number, y1: number): Box {
    return transformBox(this.state.matrix, x0, y0, x1, y1);
  }

  /** `box` is in displayed coordinates. */
  clipTo(box: Box): void {
    this.state.clip = intersect(this.state.clip, box);
  }

  setFont(name: string, size: unknown): void {
    this.state.font = this.#fontNamed(name);
    this.state.size = Number(size);
  }

  /** Applies the entries of a graphics state parameter dictionary, as PDF.js lists them. */
  setEntries(entries: readonly (readonly [string, unknown])[]): void {
    const { state } = this;
    for (const [key, value] of entries) {
      if (key === 'ca') state.fillOpacity = Number(value);
      else if (key === 'LW') state.lineWidth = Number(value);
      else if (key === 'BM') state.blended = value !== 'source-over' && value !== 'normal';
      else if (key === 'Font') this.setFont(...(value as [string, number]));
    }
  }
}
