/**
 * Draws pages of the kinds on which recognizers lose digits: clean type, receipts, tables, photos, low resolution,
 * turned and skewed pages, and other scripts. Every page holds many numbers, which are the truth of the measurement.
 */
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { GlobalFonts, type SKRSContext2D } from '@napi-rs/canvas';
import sharp from 'sharp';
import { drawnPage } from '../../src/ocr/drawn-pages.suite.ts';
import { FOREIGN, type Foreign } from './foreign.ts';
import { photographed } from './photo.ts';

export interface KindPage {
  readonly kind: string;
  readonly name: string;
  readonly picture: Uint8Array;
  readonly text: string;
}

const require = createRequire(import.meta.url);
const FONTS = path.join(path.dirname(require.resolve('pdfjs-dist/package.json')), 'standard_fonts');
GlobalFonts.registerFromPath(path.join(FONTS, 'FoxitFixed.pfb'), 'KindFixed');
GlobalFonts.registerFromPath(path.join(FONTS, 'FoxitSerif.pfb'), 'KindSerif');

const DEJAVU_MONO = '/usr/share/fonts/truetype/dejavu/DejaVuSansMono.ttf';
const MONO_FACES = ['KindFixed'];
if (existsSync(DEJAVU_MONO)) {
  GlobalFonts.registerFromPath(DEJAVU_MONO, 'KindMono');
  MONO_FACES.unshift('KindMono');
}
const PROPORTIONAL_FACES = ['PageRegular', 'KindSerif', 'PageBold'];

/** A generator of pseudo-random numbers from 0 to 1 (Lehmer). */
export function randomFrom(seed: number): () => number {
  let state = (seed * 7_919 + 104_729) % 2_147_483_647;
  return () => {
    state = (state * 48_271) % 2_147_483_647;
    return state / 2_147_483_647;
  };
}

type Random = () => number;

const pick = <Value>(random: Random, values: readonly Value[]): Value => values[Math.floor(random() * values.length)]!;
const whole = (random: Random, least: number, most: number): number =>
  least + Math.floor(random() * (most - least + 1));

const price = (random: Random): string =>
  (random() < 0.5 ? whole(random, 1, 99) : whole(random, 100, 4_999)) +
  '.' +
  String(whole(random, 0, 99)).padStart(2, '0');

const NOUNS =
  'Lamp Table Cable Paper Bottle Ticket Filter Printer Coffee Basket Screw Window Bread Butter Cheese Apple Orange Soap Towel Ladder'.split(
    ' ',
  );
const VERBS = 'costs weighs holds measures needs covers stores carries'.split(' ');

interface Face {
  readonly face: string;
  readonly size: number;
}

type Line = readonly (readonly [text: string, left: number])[];

/** Draws lines of placed texts. A negative position is that of the right edge. */
function drawLines(
  context: SKRSContext2D,
  lines: readonly Line[],
  { face, size }: Face,
  pitch: number,
  top = 40,
): void {
  context.font = `${size}px ${face}`;
  for (const [row, line] of lines.entries()) {
    for (const [text, left] of line) {
      const x = left < 0 ? -left - context.measureText(text).width : left;
      context.fillText(text, x, top + size + row * size * pitch);
    }
  }
}

const textOf = (lines: readonly Line[]): string => lines.map((line) => line.map(([text]) => text).join(' ')).join('\n');

function proseLines(random: Random, count: number): Line[] {
  return Array.from({ length: count }, (_, row) => [
    [
      row % 3 === 0
        ? `${pick(random, NOUNS)} ${whole(random, 1, 999)} ${pick(random, VERBS)} ${price(random)} and ${whole(random, 2, 60)} kg.`
        : row % 3 === 1
          ? `On 20${whole(random, 10, 29)}-0${whole(random, 1, 9)}-1${whole(random, 0, 9)} the ${pick(random, NOUNS).toLowerCase()} ${pick(random, VERBS)} ${price(random)}.`
          : `Order ${whole(random, 10_000, 99_999)}: ${whole(random, 1, 9)} of ${whole(random, 10, 99)}, total ${price(random)}.`,
      50,
    ],
  ]);
}

function clean(kind: string, faces: readonly string[], seed: number): KindPage {
  const random = randomFrom(seed);
  const face = faces[seed % faces.length]!;
  const size = pick(random, [18, 20, 22, 26]);
  const lines = proseLines(random, 9);
  const picture = drawnPage({ width: 1_000, height: 80 + Math.round(9 * size * 1.5) }, (context) =>
    drawLines(context, lines, { face, size }, 1.5),
  );
  return { kind, name: `${kind} ${seed}`, picture, text: textOf(lines) };
}

function receiptOf(random: Random, width: number): Line[] {
  const lines: Line[] = [
    [['CORNER MARKET', 60]],
    [
      [`Receipt ${whole(random, 1_000, 9_999)}`, 30],
      [`Till ${whole(random, 1, 9)}`, -(width - 30)],
    ],
  ];
  for (let item = 0; item < 9; item++)
    lines.push([
      [`${whole(random, 1, 9)}`, 30],
      [`${pick(random, NOUNS)} ${whole(random, 10, 900)} g`, 70],
      [price(random), -(width - 30)],
    ]);
  lines.push(
    [
      ['TOTAL', 30],
      [price(random), -(width - 30)],
    ],
    [
      ['VAT 19%', 30],
      [price(random), -(width - 30)],
    ],
  );
  return lines;
}

async function receipt(seed: number): Promise<KindPage> {
  const random = randomFrom(seed + 300);
  const width = 460;
  const lines = receiptOf(random, width);
  const face = seed % 4 === 3 ? 'PageRegular' : MONO_FACES[seed % MONO_FACES.length]!;
  const picture = drawnPage({ width, height: 480, paper: '#f4f2ee', ink: '#333' }, (context) =>
    drawLines(context, lines, { face, size: 19 }, 1.6),
  );
  const kept = seed % 2 === 0 ? picture : await sharp(picture).blur(0.6).jpeg({ quality: 60 }).toBuffer();
  return { kind: 'receipts', name: `receipt ${seed}`, picture: kept, text: textOf(lines) };
}

function tableOf(random: Random): string[][] {
  return [
    ['Item', 'Qty', 'Price', 'Sum'],
    ...Array.from({ length: 8 }, () => [
      pick(random, NOUNS),
      `${whole(random, 1, random() < 0.6 ? 9 : 99)}`,
      price(random),
      price(random),
    ]),
  ];
}

function table(kind: 'ruled tables' | 'open tables', seed: number): KindPage {
  const random = randomFrom(seed + 500);
  const rows = tableOf(random);
  const face = seed % 2 === 0 ? 'PageRegular' : 'KindSerif';
  const lines = rows.map((row): Line => row.map((cell, at) => [cell, at === 0 ? 60 : -(60 + (at + 1) * 200 - 16)]));
  const picture = drawnPage({ width: 900, height: 440 }, (context) => {
    drawLines(context, lines, { face, size: 21 }, 1.8);
    if (kind === 'open tables') return;
    context.lineWidth = seed % 3 === 0 ? 2 : 1;
    for (let row = 0; row <= rows.length; row++) context.strokeRect(48, 34 + row * 37.8, 812, 0.1);
    for (const x of [48, 248, 448, 658, 860]) context.strokeRect(x, 34, 0.1, rows.length * 37.8);
  });
  return { kind, name: `${kind} ${seed}`, picture, text: textOf(lines) };
}

async function changed(
  kind: string,
  seed: number,
  change: (picture: Buffer) => Promise<Uint8Array>,
  look: { degrees?: number; scale?: number } = {},
): Promise<KindPage> {
  const random = randomFrom(seed + 700);
  const lines = proseLines(random, 11);
  const face = PROPORTIONAL_FACES[seed % 2]!;
  const drawn = drawnPage({ width: 1_000, height: 480, ...look }, (context) =>
    drawLines(context, lines, { face, size: 22 }, 1.6),
  );
  return { kind, name: `${kind} ${seed}`, picture: await change(drawn), text: textOf(lines) };
}

const asIs = (picture: Buffer): Promise<Uint8Array> => Promise.resolve(picture);

function foreign(kind: string, { face, lines }: Foreign, seed: number): KindPage {
  const random = randomFrom(seed + 900);
  const own = lines.map((line) =>
    line.replace(/#+/g, (signs) => `${whole(random, 10 ** (signs.length - 1), 10 ** signs.length - 1)}`),
  );
  const placed = own.map((line): Line => [[line, kind === 'Arabic' ? -940 : 60]]);
  const picture = drawnPage({ width: 1_000, height: 60 + own.length * 45 }, (context) => {
    if (kind === 'Arabic') context.direction = 'rtl';
    drawLines(context, placed, { face, size: 26 }, 1.7, 20);
  });
  return { kind, name: `${kind} ${seed}`, picture, text: own.join('\n') };
}

/** `count` pages of every kind whose fonts are installed. */
export async function kindPages(count: number): Promise<KindPage[]> {
  const pages: KindPage[] = [];
  for (let seed = 1; seed <= count; seed++) {
    pages.push(
      clean('clean, proportional', PROPORTIONAL_FACES, seed),
      clean('clean, monospaced', MONO_FACES, seed),
      await receipt(seed),
      table('ruled tables', seed),
      table('open tables', seed),
      await changed('photos', seed, (picture) => photographed(picture, randomFrom(seed + 40))),
      await changed('75 dpi', seed, asIs, { scale: 0.5 }),
      await changed('skewed', seed, asIs, { degrees: [1.5, -2.5, 4, -3.3][seed % 4]!, scale: 1.3 }),
      await changed('turned', seed, asIs, { degrees: [90, 180, 270][seed % 3]!, scale: 1.3 }),
    );
    for (const [kind, found] of FOREIGN) pages.push(foreign(kind, found, seed));
  }
  return pages;
}
