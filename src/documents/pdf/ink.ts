/**
 * What a page shows, read from its list of drawing operators: pieces of text with place, size and style, ruling lines,
 * painted areas. Follows the graphics and text state as ISO 32000-1, sections 8 and 9, have it.
 */
import { isRightToLeft, plainText } from './characters.ts';
import { type Box, intersect, type Matrix, multiply, toMatrix, transformBox } from './geometry.ts';
import { paintedPath } from './path.ts';
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

type Growing<Value> = { -readonly [Key in keyof Value]: Value[Key] };

export interface InkSources {
  readonly operators: { readonly fnArray: readonly number[]; readonly argsArray: readonly unknown[] };
  readonly names: Readonly<Record<string, number>>;
  readonly viewport: { readonly width: number; readonly height: number; readonly transform: readonly number[] };
  readonly font: (name: string) => FontFacts;
  readonly layers: { isVisible(group: unknown): boolean } | null;
}

interface Glyph {
  readonly unicode: string;
  readonly width: number;
  readonly isSpace: boolean;
  readonly vmetric?: readonly number[] | null;
}

interface State {
  matrix: Matrix;
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

const MAX_PIECES = 200_000;
const MAX_FILLS = 2_000;
const MAX_RULES = 20_000;
const MAX_SAVED = 10_000;
const MAX_DOTS = 5_000;
const LONGEST_PIECE = 200;
/** In ems: a jump of the pen that parts words, and one backwards that starts anew. */
const WORD_GAP = 0.15;
/** In ems: from the middle of a column of vertical text to where a baseline would be. */
const CENTRE = 0.35;
const BACK_JUMP = 0.5;

export function readInk({ operators, names, viewport, font, layers }: InkSources): Ink {
  const { width, height } = viewport;
  const page: Box = { x0: 0, y0: 0, x1: width, y1: height };
  const base = toMatrix([...viewport.transform]) ?? [1, 0, 0, -1, 0, height];
  const pieces: Growing<RawPiece>[] = [];
  const dots: Box[] = [];
  const fills: Fill[] = [];
  const rules: Rule[] = [];
  let graphics = 0;
  let switchedOff = 0;
  let order = 0;
  let state: State = {
    matrix: base,
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
    clip: page,
  };
  const initial = { ...state };
  const saved: State[] = [];
  let textMatrix: Matrix = [1, 0, 0, 1, 0, 0];
  let lineX = 0;
  let lineY = 0;
  let penX = 0;
  let penY = 0;
  let clipping = false;
  let spacePending = false;
  /** The scaled unit square of a picture that is left out of the list: `cm` with nothing painted in it. */
  let unpainted: Box | null = null;
  const marks: { mark: number | null; artifact: boolean; off: boolean }[] = [];
  let off = 0;

  const save = () => {
    if (saved.length < MAX_SAVED) saved.push({ ...state });
  };
  const restore = () => {
    if (unpainted) addFill(unpainted, null, true);
    unpainted = null;
    state = saved.pop() ?? state;
  };
  const addFill = (box: Box, color: string | null, image = false) => {
    graphics += 1;
    const seen = intersect(box, state.clip);
    if (fills.length >= MAX_FILLS || seen.x1 - seen.x0 < 3 || seen.y1 - seen.y0 < 3) return;
    fills.push({ ...seen, color, order: order++, image, mark: marks[marks.length - 1]?.mark ?? null });
  };
  const addDot = (box: Box) => {
    const wide = box.x1 - box.x0;
    const high = box.y1 - box.y0;
    const round = wide > 1.5 && wide < 9 && high > 0.8 * wide && wide > 0.8 * high;
    if (round && dots.length < MAX_DOTS) dots.push(box);
  };
  const transform = (value: unknown, picture = false) => {
    const matrix = toMatrix(value);
    if (!matrix) return;
    state.matrix = multiply(state.matrix, matrix);
    if (!picture) return;
    const box = transformBox(state.matrix, 0, 0, 1, 1);
    unpainted = box.x1 - box.x0 > 8 && box.y1 - box.y0 > 8 ? box : null;
  };
  const clipTo = (box: Box) => {
    state.clip = intersect(state.clip, box);
  };

  const showText = (glyphs: readonly (Glyph | number | null)[]) => {
    const { font: facts, size, stretch, charSpacing, wordSpacing, rise } = state;
    if (!facts || size === 0) return;
    const whole = multiply(state.matrix, textMatrix);
    const across = Math.hypot(whole[2], whole[3]);
    const direction = Math.sign(size * stretch) || 1;
    const angle = turnOf(whole, direction) + (facts.vertical ? 90 : 0);
    const em = Math.abs(size);
    const seenSize = em * across * facts.height;
    const vertical = facts.vertical;
    const { mark, artifact } = marks[marks.length - 1] ?? { mark: null, artifact: false };
    let text = '';
    let start = 0;
    let end = penX;
    let fromSpace = spacePending;

    const place = (x: number, y: number): [number, number] => [
      whole[0] * x + whole[2] * y + whole[4],
      whole[1] * x + whole[3] * y + whole[5],
    ];
    const flush = () => {
      if (text === '') return;
      const value = text;
      text = '';
      if (pieces.length >= MAX_PIECES) return;
      if (off > 0) {
        switchedOff += 1;
        return;
      }
      const [fromX, fromY] = vertical ? place(penX - CENTRE * em, penY) : place(start, penY + rise);
      const [toX, toY] = vertical ? place(penX - CENTRE * em, penY - em) : place(end, penY + rise);
      const seenEnd = Math.abs(angle) < 1 ? toX : fromX + Math.hypot(toX - fromX, toY - fromY);
      const before = pieces[pieces.length - 1];
      if (before && !fromSpace && goesOn(before, value, fromX, fromY)) {
        before.text += value;
        before.x1 = seenEnd;
        before.order = order++;
        return;
      }
      pieces.push({
        x0: fromX,
        x1: seenEnd,
        y: fromY,
        size: seenSize,
        text: value,
        style: facts.style,
        spaced: fromSpace,
        rightToLeft: isRightToLeft(value),
        mark,
        artifact,
        angle,
        color: state.mode === 1 || state.mode === 5 ? state.stroke : state.fill,
        opacity: state.mode === 1 || state.mode === 5 ? 1 : state.fillOpacity,
        painted: state.mode !== 3 && state.mode !== 7,
        clip: state.clip,
        order: order++,
      });
      fromSpace = false;
    };

    /** Files that place sign after sign get whole words all the same. */
    const goesOn = (before: RawPiece, value: string, x: number, y: number) =>
      before.order === order - 1 &&
      before.style === facts.style &&
      Math.abs(angle) < 1 &&
      Math.abs(before.angle) < 1 &&
      Math.abs(before.y - y) < 0.02 * seenSize &&
      Math.abs(before.size - seenSize) < 0.01 * seenSize &&
      Math.abs(x - before.x1) < 0.1 * seenSize &&
      before.mark === mark &&
      before.color === state.fill &&
      before.clip === state.clip &&
      before.painted === (state.mode !== 3 && state.mode !== 7) &&
      before.text.length < LONGEST_PIECE &&
      !before.rightToLeft &&
      !isRightToLeft(value);

    for (const glyph of glyphs) {
      if (typeof glyph === 'number') {
        if (vertical) penY -= (glyph * size) / 1000;
        else penX -= (glyph * size * stretch) / 1000;
        continue;
      }
      if (!glyph) continue;
      const advance = glyph.width * facts.scale * size * stretch;
      const spacing = (charSpacing + (glyph.isSpace ? wordSpacing : 0)) * stretch;
      const value = plainText(glyph.unicode);
      const blank = value.trim() === '';
      if (vertical) {
        // Each sign is a piece of its own: what is turned with it is put together like any other line.
        if (!blank) {
          text = value;
          flush();
        }
        const [down = -1000] = glyph.vmetric ?? [];
        penY += (down / 1000) * em - charSpacing;
        continue;
      }
      const gap = (penX - end) * direction;
      if (blank) {
        flush();
        if (value !== '' || glyph.isSpace) fromSpace = true;
      } else {
        const single = isRightToLeft(value);
        const letterSpacing = Math.max(0, charSpacing * stretch * direction);
        if (
          text !== '' &&
          (single || gap > Math.max(WORD_GAP * em, letterSpacing + 0.1 * em) || gap < -BACK_JUMP * em)
        ) {
          flush();
        }
        if (text === '') start = penX;
        text += value;
      }
      end = penX + advance;
      penX += advance + spacing;
      if (text !== '' && isRightToLeft(text)) flush();
    }
    flush();
    spacePending = fromSpace;
    unpainted = null;
  };

  const newLine = (x: number, y: number) => {
    lineX += x;
    lineY += y;
    penX = lineX;
    penY = lineY;
  };

  const handlers: Record<string, (args: readonly unknown[]) => void> = {
    save,
    restore,
    transform: (args) => transform(args, true),
    paintFormXObjectBegin([matrix, box]) {
      save();
      unpainted = null;
      if (matrix) transform(matrix);
      const corners = toMatrix([
        ...((box as ArrayLike<number> | null) ? Array.from(box as ArrayLike<number>) : []),
        0,
        0,
      ]);
      if (corners) clipTo(transformBox(state.matrix, corners[0], corners[1], corners[2], corners[3]));
    },
    paintFormXObjectEnd: restore,
    beginGroup([group]) {
      save();
      unpainted = null;
      const { matrix, bbox } = group as { matrix?: unknown; bbox?: ArrayLike<number> | null };
      if (!bbox) return;
      const outer = state.matrix;
      if (matrix) transform(matrix);
      clipTo(transformBox(state.matrix, bbox[0]!, bbox[1]!, bbox[2]!, bbox[3]!));
      state.matrix = outer;
    },
    endGroup: restore,
    beginAnnotation([, rect, first, second]) {
      save();
      const { clip } = initial;
      state = { ...initial, clip };
      const corners = rect as ArrayLike<number> | null;
      if (corners) clipTo(transformBox(base, corners[0]!, corners[1]!, corners[2]!, corners[3]!));
      transform(first);
      transform(second);
    },
    endAnnotation: restore,
    setFillRGBColor: ([color]) => {
      state.fill = color as string;
    },
    setStrokeRGBColor: ([color]) => {
      state.stroke = color as string;
    },
    setFillColorN: () => {
      state.fill = null;
    },
    setStrokeColorN: () => {
      state.stroke = null;
    },
    setFillTransparent: () => {
      state.fill = null;
    },
    setStrokeTransparent: () => {
      state.stroke = null;
    },
    setGState([entries]) {
      for (const [key, value] of entries as [string, unknown][]) {
        if (key === 'ca') state.fillOpacity = Number(value);
        else if (key === 'LW') state.lineWidth = Number(value);
        else if (key === 'BM') state.blended = value !== 'source-over' && value !== 'normal';
        else if (key === 'Font') setFont(value as [string, number]);
      }
    },
    setLineWidth: ([value]) => {
      state.lineWidth = Number(value);
    },
    setCharSpacing: ([value]) => {
      state.charSpacing = Number(value);
    },
    setWordSpacing: ([value]) => {
      state.wordSpacing = Number(value);
    },
    setHScale: ([value]) => {
      state.stretch = Number(value) / 100;
    },
    setLeading: ([value]) => {
      state.leading = Number(value);
    },
    setTextRise: ([value]) => {
      state.rise = Number(value);
    },
    setTextRenderingMode: ([value]) => {
      state.mode = Number(value);
    },
    setFont: (args) => setFont(args as [string, number]),
    beginText() {
      textMatrix = [1, 0, 0, 1, 0, 0];
      lineX = lineY = penX = penY = 0;
    },
    setTextMatrix([value]) {
      const matrix = toMatrix(value);
      if (!matrix) return;
      textMatrix = matrix;
      lineX = lineY = penX = penY = 0;
    },
    moveText: ([x, y]) => newLine(Number(x), Number(y)),
    setLeadingMoveText([x, y]) {
      state.leading = -Number(y);
      newLine(Number(x), Number(y));
    },
    nextLine: () => newLine(0, -state.leading),
    showText: ([glyphs]) => showText(glyphs as readonly Glyph[]),
    clip: () => {
      clipping = true;
    },
    eoClip: () => {
      clipping = true;
    },
    constructPath([operator, data, bounds]) {
      const box = bounds as ArrayLike<number> | null;
      if (clipping) {
        clipping = false;
        if (box && Number.isFinite(box[0])) {
          clipTo(transformBox(state.matrix, box[0]!, box[1]!, box[2]!, box[3]!));
        }
      }
      const [points] = data as [Float32Array | null];
      const painting = painted.get(operator as number);
      if (!painting || !points) return;
      graphics += 1;
      unpainted = null;
      const color = state.fillOpacity < 0.95 || state.blended ? null : state.fill;
      const found = paintedPath(points, state.matrix, { ...painting, lineWidth: state.lineWidth });
      for (const area of found.areas) addFill(area, color);
      if (box && Number.isFinite(box[0])) addDot(transformBox(state.matrix, box[0]!, box[1]!, box[2]!, box[3]!));
      // A rule in the colour of the paper is none.
      if (isPaper(painting.stroke ? state.stroke : state.fill)) return;
      for (const rule of found.rules) {
        const seen = intersect(rule, grown(state.clip));
        if (rules.length < MAX_RULES && seen.x1 >= seen.x0 && seen.y1 >= seen.y0) {
          rules.push({ ...seen, upright: rule.upright });
        }
      }
    },
    shadingFill: () => addFill(state.clip, null),
    paintImageXObject: () => addFill(transformBox(state.matrix, 0, 0, 1, 1), null, true),
    paintInlineImageXObject: () => addFill(transformBox(state.matrix, 0, 0, 1, 1), null, true),
    paintImageMaskXObject: () => addFill(transformBox(state.matrix, 0, 0, 1, 1), null, true),
    beginMarkedContent([tag]) {
      const { mark = null, artifact = false } = marks[marks.length - 1] ?? {};
      marks.push({ mark, artifact: artifact || nameOf(tag) === 'Artifact', off: false });
    },
    beginMarkedContentProps([tag, value]) {
      const outer = marks[marks.length - 1];
      const hidden = tag === 'OC' && value !== null && layers !== null && !layers.isVisible(value);
      marks.push({
        mark: typeof value === 'number' ? value : (outer?.mark ?? null),
        artifact: (outer?.artifact ?? false) || nameOf(tag) === 'Artifact',
        off: hidden,
      });
      if (hidden) off += 1;
    },
    endMarkedContent() {
      if (marks.pop()?.off) off -= 1;
    },
  };
  const setFont = ([name, size]: readonly [string, number]) => {
    state.font = font(name);
    state.size = Number(size);
  };

  const painted = new Map<number, { fill: boolean; stroke: boolean }>();
  for (const [name, painting] of Object.entries(PAINTING)) painted.set(names[name]!, painting);
  const byNumber: ((args: readonly unknown[]) => void)[] = [];
  for (const [name, handler] of Object.entries(handlers)) {
    const number = names[name];
    if (number !== undefined) byNumber[number] = handler;
  }
  const { fnArray, argsArray } = operators;
  for (let at = 0; at < fnArray.length; at++) byNumber[fnArray[at]!]?.((argsArray[at] as unknown[] | null) ?? []);
  return { width, height, pieces, fills, rules, dots, graphics, switchedOff };
}

const FILLS = { fill: true, stroke: false };
const STROKES = { fill: false, stroke: true };
const BOTH = { fill: true, stroke: true };
const PAINTING: Readonly<Record<string, { fill: boolean; stroke: boolean }>> = {
  fill: FILLS,
  eoFill: FILLS,
  stroke: STROKES,
  closeStroke: STROKES,
  fillStroke: BOTH,
  eoFillStroke: BOTH,
  closeFillStroke: BOTH,
  closeEOFillStroke: BOTH,
};

/** PDF.js gives a tag as it is in the file or as its text. */
const nameOf = (tag: unknown): unknown => (typeof tag === 'object' && tag !== null && 'name' in tag ? tag.name : tag);

const turnOf = (matrix: Matrix, direction: number): number =>
  (Math.atan2(matrix[1] * direction, matrix[0] * direction) * 180) / Math.PI;

const isPaper = (color: string | null): boolean => color === '#ffffff';

/** Lines drawn on the edge of what is shown are shown. */
const grown = ({ x0, y0, x1, y1 }: Box): Box => ({ x0: x0 - 1, y0: y0 - 1, x1: x1 + 1, y1: y1 + 1 });
