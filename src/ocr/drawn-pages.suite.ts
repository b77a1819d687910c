/** Test helpers: pages drawn from known texts, and the accuracy of their recognition. */
import { createRequire } from 'node:module';
import path from 'node:path';
import { createCanvas, GlobalFonts, type SKRSContext2D } from '@napi-rs/canvas';

const FONTS = path.join(
  path.dirname(createRequire(import.meta.url).resolve('pdfjs-dist/package.json')),
  'standard_fonts',
);
for (const style of ['Regular', 'Bold']) {
  GlobalFonts.registerFromPath(path.join(FONTS, `LiberationSans-${style}.ttf`), `Page${style}`);
}

export const RIVERS =
  'Rivers carry sediment from the mountains to the sea, and the shape of every valley tells how long they have been at ' +
  'work. Where the ground is soft the channel wanders, cutting into one bank and building up the other, until a flood ' +
  'takes the shortest way across the neck of a bend.';
export const BRIDGES =
  'Bridges were built first where the banks were firm and the water narrow. Towns grew beside them, since everybody who ' +
  'traveled had to pass there, and the toll paid for walls, markets and finally for a wider bridge of stone.';

export const BRIDGE_ROWS = [
  ['Bridge', 'Arches', 'Length', 'Built'],
  ['Old Bridge', '12', '340 m', '1357'],
  ['Mill Bridge', '3', '58 m', '1712'],
  ['New Bridge', '5', '410 m', '1904'],
  ['Foot Bridge', '1', '22 m', '1988'],
] as const;

export const A4 = { width: 1_240, height: 1_754 };

interface Look {
  readonly width: number;
  readonly height: number;
  readonly paper?: string | undefined;
  readonly ink?: string | undefined;
  /** Clockwise. */
  readonly degrees?: number;
  readonly scale?: number;
}

export type Draw = (context: SKRSContext2D) => void;

/** A PNG. */
export function drawnPage(
  { width, height, paper = '#fff', ink = '#000', degrees = 0, scale = 1 }: Look,
  draw: Draw,
): Buffer {
  const onSide = degrees % 180 === 90;
  const canvas = createCanvas((onSide ? height : width) * scale, (onSide ? width : height) * scale);
  const context = canvas.getContext('2d');
  if (paper !== 'none') {
    context.fillStyle = paper;
    context.fillRect(0, 0, canvas.width, canvas.height);
  }
  context.fillStyle = ink;
  context.strokeStyle = ink;
  context.translate(canvas.width / 2, canvas.height / 2);
  context.rotate((degrees * Math.PI) / 180);
  context.scale(scale, scale);
  context.translate(-width / 2, -height / 2);
  draw(context);
  return canvas.toBuffer('image/png');
}

interface Place {
  readonly left: number;
  readonly top: number;
  readonly width: number;
  readonly size: number;
  readonly bold?: boolean;
}

/** Draws text in lines. Returns the position of the next line. */
export function drawText(
  context: SKRSContext2D,
  text: string,
  { left, top, width, size, bold = false }: Place,
): number {
  context.font = `${size}px ${bold ? 'PageBold' : 'PageRegular'}`;
  let line = '';
  let at = top + size;
  for (const word of text.split(' ')) {
    const longer = line === '' ? word : `${line} ${word}`;
    if (line === '' || context.measureText(longer).width <= width) line = longer;
    else {
      context.fillText(line, left, at);
      at += size * 1.35;
      line = word;
    }
  }
  context.fillText(line, left, at);
  return at + size * 0.35;
}

export function drawRows(context: SKRSContext2D, { left, top, width, size }: Place): number {
  for (const [row, cells] of BRIDGE_ROWS.entries()) {
    for (const [column, cell] of cells.entries()) {
      drawText(context, cell, {
        left: left + column * width,
        top: top + row * size * 1.6,
        width,
        size,
        bold: row === 0,
      });
    }
  }
  return top + BRIDGE_ROWS.length * size * 1.6;
}

/**
 * Levenshtein accuracy: 1 minus the number of edits per expected character, but at least 0; 1 if the texts are equal.
 */
export function characterAccuracy(expected: string, actual: string): number {
  const want = expected.replace(/\s+/g, ' ').trim();
  const got = actual.replace(/\s+/g, ' ').trim();
  let before = Array.from({ length: got.length + 1 }, (_, at) => at);
  for (let i = 1; i <= want.length; i++) {
    const row = [i];
    for (let j = 1; j <= got.length; j++) {
      const change = before[j - 1]! + (want[i - 1] === got[j - 1] ? 0 : 1);
      row.push(Math.min(change, before[j]! + 1, row[j - 1]! + 1));
    }
    before = row;
  }
  return Math.max(0, 1 - before[got.length]! / Math.max(1, want.length));
}
