/**
 * What a page shows, read from its list of drawing operators: pieces of text with place, size and style, ruling lines,
 * painted areas. Follows the graphics and text state as ISO 32000-1, sections 8 and 9, have it.
 */
import { Canvas } from './canvas.ts';
import type { Box } from './geometry.ts';
import { Graphics } from './graphics.ts';
import { MarkedContent } from './marked-content.ts';
import { OPERATORS, type Operator, PAINTINGS, type Reading } from './operators.ts';
import { Pen } from './pen.ts';
import type { Tag } from './tags.ts';

/** How a font looks, as far as words are concerned. */
export interface Style {
  readonly bold: boolean;
  readonly italic: boolean;
  readonly mono: boolean;
}

/** A word or a part of one, along its baseline. */
export interface Piece {
  readonly x0: number;
  readonly x1: number;
  /** The baseline. */
  readonly y: number;
  readonly size: number;
  readonly text: string;
  readonly style: Style;
  /** Whether a space stands before it in the file. */
  readonly spaced: boolean;
  readonly rightToLeft: boolean;
  /** The number of its marked content, by which the structure tree names it. */
  readonly mark: number | null;
  /** Whether the file calls it no part of the text: page furniture. */
  readonly artifact: boolean;
  readonly shift?: 'raised' | 'lowered' | undefined;
  readonly href?: string | undefined;
  /** The element of the structure tree that it is in. */
  readonly tag?: Tag | undefined;
}

/** A piece with what decides whether it can be seen; `angle` is in degrees, clockwise. */
export interface RawPiece extends Piece {
  readonly angle: number;
  readonly color: string | null;
  readonly opacity: number;
  readonly painted: boolean;
  readonly clip: Box;
  /** Its place in the order of painting. */
  readonly order: number;
}

/** A painted area; `color` is null for pictures, patterns and what lets the ground through. */
export interface Fill extends Box {
  readonly color: string | null;
  readonly order: number;
  readonly image: boolean;
  readonly mark: number | null;
}

/** A straight line along the page's edges, thin or not. */
export interface Rule extends Box {
  readonly upright: boolean;
}

export interface Ink {
  readonly width: number;
  readonly height: number;
  readonly pieces: readonly RawPiece[];
  readonly fills: readonly Fill[];
  readonly rules: readonly Rule[];
  /** Small painted shapes, about as high as wide: drawn bullets are among them. */
  readonly dots: readonly Box[];
  /** Operators that paint something other than text. */
  readonly graphics: number;
  /** Pieces in layers that are switched off. */
  readonly switchedOff: number;
}

export interface FontFacts {
  readonly style: Style;
  /** From glyph units to text units, along and across. */
  readonly scale: number;
  readonly height: number;
  readonly vertical: boolean;
}

export interface InkSources {
  readonly operators: { readonly fnArray: readonly number[]; readonly argsArray: readonly unknown[] };
  readonly names: Readonly<Record<string, number>>;
  readonly viewport: { readonly width: number; readonly height: number; readonly transform: readonly number[] };
  readonly font: (name: string) => FontFacts;
  readonly layers: { isVisible(group: unknown): boolean } | null;
}

export function readInk({ operators, names, viewport, font, layers }: InkSources): Ink {
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
  const { pieces, fills, rules, dots, switchedOff } = canvas;
  return {
    width: viewport.width,
    height: viewport.height,
    pieces,
    fills,
    rules,
    dots,
    graphics: canvas.graphicsCount,
    switchedOff,
  };
}
