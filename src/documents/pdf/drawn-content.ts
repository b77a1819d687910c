/**
 * Reads the drawing operators of a page: pieces of text with position, size and style, ruling lines, painted areas.
 * Follows the graphics and text state of ISO 32000-1, sections 8 and 9.
 */
import { Canvas } from './canvas.ts';
import type { Box } from './geometry.ts';
import { Graphics } from './graphics.ts';
import { MarkedContent } from './marked-content.ts';
import { OPERATORS, type Operator, PAINTINGS, type Reading } from './operators.ts';
import { Pen } from './pen.ts';
import type { Tag } from './tags.ts';

/** The properties of a font that matter for text. */
export interface Style {
  readonly bold: boolean;
  readonly italic: boolean;
  readonly mono: boolean;
  /** From 100 to 900, as far as it is known; `bold` is true from 600 on. */
  readonly weight: number;
}

/** A word, or a part of a word, along its baseline. */
export interface Piece {
  readonly x0: number;
  readonly x1: number;
  /** Position of the baseline. */
  readonly y: number;
  readonly size: number;
  readonly text: string;
  readonly style: Style;
  /** Whether the file has a space before it. */
  readonly spaced: boolean;
  readonly rightToLeft: boolean;
  /** The marked content id, by which the structure tree refers to it. */
  readonly mark: number | null;
  /** Whether the file marks it as an artifact: page furniture. */
  readonly artifact: boolean;
  readonly shift?: 'raised' | 'lowered' | undefined;
  readonly href?: string | undefined;
  /** The piece's element in the structure tree. */
  readonly tag?: Tag | undefined;
}

/** A piece with the properties that determine whether it is visible. `angle` is in degrees, clockwise. */
export interface RawPiece extends Piece {
  readonly angle: number;
  readonly color: string | null;
  readonly opacity: number;
  readonly painted: boolean;
  readonly clip: Box;
  /** Position in painting order. */
  readonly order: number;
}

/** A painted area. `color` is null for images, patterns and transparent paint. */
export interface Fill extends Box {
  readonly color: string | null;
  readonly order: number;
  readonly image: boolean;
  readonly mark: number | null;
}

/** A horizontal or vertical line, thin or not. */
export interface Rule extends Box {
  readonly upright: boolean;
}

export interface DrawnContent {
  readonly width: number;
  readonly height: number;
  readonly pieces: readonly RawPiece[];
  readonly fills: readonly Fill[];
  readonly rules: readonly Rule[];
  /** Small painted shapes, about as high as wide; drawn bullets are among them. */
  readonly dots: readonly Box[];
  /** Number of operators that paint something other than text. */
  readonly graphics: number;
  /** Number of pieces in hidden layers. */
  readonly hiddenLayerCount: number;
}

export interface FontFacts {
  readonly style: Style;
  /** Factor from glyph units to text units, along and across the text. */
  readonly scale: number;
  readonly height: number;
  readonly vertical: boolean;
  readonly dingbats: boolean;
}

export interface DrawingSources {
  readonly operators: { readonly fnArray: readonly number[]; readonly argsArray: readonly unknown[] };
  readonly names: Readonly<Record<string, number>>;
  readonly viewport: { readonly width: number; readonly height: number; readonly transform: readonly number[] };
  readonly font: (name: string) => FontFacts;
  readonly layers: { isVisible(group: unknown): boolean } | null;
}

export function readDrawnContent({ operators, names, viewport, font, layers }: DrawingSources): DrawnContent {
  const graphics = new Graphics({ viewport, font });
  const marks = new MarkedContent(layers);
  const canvas = new Canvas(graphics, marks);
  const pen = new Pen(graphics, marks, canvas);
  const paintings = new Map(Object.entries(PAINTINGS).map(([name, painting]) => [names[name]!, painting]));
  const reading: Reading = { graphics, marks, canvas, pen, paintings, clipping: false };
  const byNumber: Operator[] = [];
  for (const [name, operator] of Object.entries(OPERATORS)) {
    const number = names[name];
    if (number !== undefined) byNumber[number] = operator;
  }
  const { fnArray, argsArray } = operators;
  for (let at = 0; at < fnArray.length; at++) {
    byNumber[fnArray[at]!]?.(reading, (argsArray[at] as unknown[] | null) ?? []);
  }
  pen.finish();
  const { pieces, fills, rules, dots, switchedOff: hiddenLayerCount } = canvas;
  return {
    width: viewport.width,
    height: viewport.height,
    pieces,
    fills,
    rules,
    dots,
    graphics: canvas.graphicsCount,
    hiddenLayerCount,
  };
}
