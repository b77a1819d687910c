/** Handlers for the drawing operators, by their PDF.js names. All other operators have no effect on the text. */
import type { Canvas, Painting } from './canvas.ts';
import { toMatrix } from './geometry.ts';
import type { Graphics, GraphicsState } from './graphics.ts';
import type { MarkedContent } from './marked-content.ts';
import type { Glyph, Pen } from './pen.ts';

/** State while reading a page. */
export interface Reading {
  readonly graphics: Graphics;
  readonly marks: MarkedContent;
  readonly canvas: Canvas;
  readonly pen: Pen;
  /** How each path-ending operator paints the path, by operator number. */
  readonly paintings: ReadonlyMap<number, Painting>;
  /** Whether the next path becomes a clip. */
  clipping: boolean;
}

export type Operator = (reading: Reading, args: readonly unknown[]) => void;

type Corners = ArrayLike<number>;

const save: Operator = ({ graphics }) => graphics.save();

const restore: Operator = ({ graphics, canvas }) => {
  canvas.addExpectedPicture();
  graphics.restore();
};

const set =
  (change: (state: GraphicsState, value: unknown) => void): Operator =>
  ({ graphics }, [value]) =>
    change(graphics.state, value);

const setFill = set((state, color) => {
  state.fill = color as string;
});
const setStroke = set((state, color) => {
  state.stroke = color as string;
});
const setNoFill = set((state) => {
  state.fill = null;
});
const setNoStroke = set((state) => {
  state.stroke = null;
});

const addPicture: Operator = ({ canvas }) => canvas.addPicture();

const clip: Operator = (reading) => {
  reading.clipping = true;
};

function clipToCorners({ graphics }: Reading, [x0, y0, x1, y1]: readonly number[]): void {
  graphics.clipTo(graphics.seen(x0!, y0!, x1!, y1!));
}

export const OPERATORS: Readonly<Record<string, Operator>> = {
  save,
  restore,
  transform({ graphics, canvas }, args) {
    if (graphics.transform(args)) canvas.expectPicture();
  },
  paintFormXObjectBegin(reading, [matrix, box]) {
    reading.graphics.save();
    reading.canvas.expectNoPicture();
    if (matrix) reading.graphics.transform(matrix);
    const corners = toMatrix([...Array.from((box as Corners | null) ?? []), 0, 0]);
    if (corners) clipToCorners(reading, corners);
  },
  paintFormXObjectEnd: restore,
  beginGroup(reading, [group]) {
    const { graphics, canvas } = reading;
    graphics.save();
    canvas.expectNoPicture();
    const { matrix, bbox } = group as { matrix?: unknown; bbox?: Corners | null };
    if (!bbox) return;
    const outer = graphics.state.matrix;
    if (matrix) graphics.transform(matrix);
    clipToCorners(reading, Array.from(bbox));
    graphics.state.matrix = outer;
  },
  endGroup: restore,
  beginAnnotation(reading, [, rect, first, second]) {
    const { graphics } = reading;
    graphics.save();
    graphics.reset();
    if (rect) clipToCorners(reading, Array.from(rect as Corners));
    graphics.transform(first);
    graphics.transform(second);
  },
  endAnnotation: restore,

  setFillRGBColor: setFill,
  setStrokeRGBColor: setStroke,
  setFillColorN: setNoFill,
  setStrokeColorN: setNoStroke,
  setFillTransparent: setNoFill,
  setStrokeTransparent: setNoStroke,
  setGState: ({ graphics }, [entries]) => graphics.setEntries(entries as [string, unknown][]),
  setLineWidth: set((state, value) => {
    state.lineWidth = Number(value);
  }),
  setCharSpacing: set((state, value) => {
    state.charSpacing = Number(value);
  }),
  setWordSpacing: set((state, value) => {
    state.wordSpacing = Number(value);
  }),
  setHScale: set((state, value) => {
    state.stretch = Number(value) / 100;
  }),
  setLeading: set((state, value) => {
    state.leading = Number(value);
  }),
  setTextRise: set((state, value) => {
    state.rise = Number(value);
  }),
  setTextRenderingMode: set((state, value) => {
    state.mode = Number(value);
  }),
  setFont: ({ graphics }, [name, size]) => graphics.setFont(name as string, size),

  beginText: ({ pen }) => pen.begin(),
  setTextMatrix: ({ pen }, [value]) => pen.setMatrix(value),
  moveText: ({ pen }, [x, y]) => pen.move(Number(x), Number(y)),
  setLeadingMoveText({ graphics, pen }, [x, y]) {
    graphics.state.leading = -Number(y);
    pen.move(Number(x), Number(y));
  },
  nextLine: ({ graphics, pen }) => pen.move(0, -graphics.state.leading),
  showText: ({ pen }, [glyphs]) => pen.show(glyphs as readonly Glyph[]),

  clip,
  eoClip: clip,
  constructPath(reading, [operator, data, bounds]) {
    const { graphics, canvas, paintings } = reading;
    const [x0, y0, x1, y1] = (bounds as readonly number[] | null) ?? [];
    const box = Number.isFinite(x0) ? graphics.seen(x0!, y0!, x1!, y1!) : null;
    if (reading.clipping && box) graphics.clipTo(box);
    reading.clipping = false;
    const [points] = data as [Float32Array | null];
    const painting = paintings.get(operator as number);
    if (painting && points) canvas.addPath(points, box, painting);
  },
  shadingFill: ({ graphics, canvas }) => canvas.addFill(graphics.state.clip, null),
  paintImageXObject: addPicture,
  paintInlineImageXObject: addPicture,
  paintImageMaskXObject: addPicture,

  beginMarkedContent: ({ marks }, [tag]) => marks.begin(tag),
  beginMarkedContentProps: ({ marks }, [tag, value]) => marks.begin(tag, value),
  endMarkedContent: ({ marks }) => marks.end(),
};

const FILLS: Painting = { fill: true, stroke: false };
const STROKES: Painting = { fill: false, stroke: true };
const BOTH: Painting = { fill: true, stroke: true };

export const PAINTINGS: Readonly<Record<string, Painting>> = {
  fill: FILLS,
  eoFill: FILLS,
  stroke: STROKES,
  closeStroke: STROKES,
  fillStroke: BOTH,
  eoFillStroke: BOTH,
  closeFillStroke: BOTH,
  closeEOFillStroke: BOTH,
};
