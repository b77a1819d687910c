/**
 * Text recognition beside the plain Tesseract program, in one run: `tsx --conditions=source bench/ocr.ts [folder]`. Pages
 * are drawn here; a folder of pictures, each with its text in a `.txt` beside it, can be given instead.
 *
 * Characters and words: edits from the true text in reading order, in parts of its length, white space made one. Found:
 * words of the true text that are there at all, in whatever order. Cells: of the tables, in their places.
 */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import sharp from 'sharp';
import { createOcr, type OcrResult } from '#models/index.ts';
import {
  A4,
  BRIDGE_ROWS,
  BRIDGES,
  type Draw,
  drawnPage,
  drawRows,
  drawText,
  RIVERS,
} from '../src/models/drawn-pages.suite.ts';
import { machine, table } from './support.ts';

interface Sample {
  readonly name: string;
  readonly picture: Uint8Array;
  readonly text: string;
  readonly cells: readonly string[];
}

const CELLS: readonly string[] = BRIDGE_ROWS.flat();
const PROSE = `${RIVERS} ${BRIDGES}`;

const article: Draw = (context) => {
  let top = drawText(context, 'On Rivers and Bridges', { left: 110, top: 110, width: 1_000, size: 48, bold: true });
  for (const text of [RIVERS, BRIDGES, RIVERS, BRIDGES])
    top = drawText(context, text, { left: 110, top: top + 24, width: 1_000, size: 22 });
};
const ARTICLE = `On Rivers and Bridges ${PROSE} ${PROSE}`;

const columns: Draw = (context) => {
  drawText(context, 'A Page of Two Columns', { left: 330, top: 100, width: 800, size: 44, bold: true });
  drawText(context, `${PROSE} ${PROSE}`, { left: 110, top: 220, width: 480, size: 22 });
  drawText(context, `${BRIDGES} ${RIVERS} ${BRIDGES}`, { left: 650, top: 220, width: 480, size: 22 });
};
const COLUMNS = `A Page of Two Columns ${PROSE} ${PROSE} ${BRIDGES} ${RIVERS} ${BRIDGES}`;

const threeColumns: Draw = (context) => {
  for (const [at, text] of [PROSE, `${BRIDGES} ${RIVERS}`, PROSE].entries())
    drawText(context, text, { left: 90 + at * 370, top: 140, width: 330, size: 20 });
};
const THREE_COLUMNS = `${PROSE} ${BRIDGES} ${RIVERS} ${PROSE}`;

const aligned: Draw = (context) => {
  drawText(context, BRIDGES, { left: 110, top: 110, width: 1_000, size: 22 });
  drawRows(context, { left: 110, top: 300, width: 240, size: 22 });
  drawText(context, RIVERS, { left: 110, top: 560, width: 1_000, size: 22 });
};
const ruled: Draw = (context) => {
  aligned(context);
  context.lineWidth = 1.5;
  for (let row = 0; row <= BRIDGE_ROWS.length; row++) context.strokeRect(100, 294 + row * 35.2, 960, 0.1);
  for (let column = 0; column <= 4; column++) context.strokeRect(100 + column * 240, 294, 0.1, 176);
};
const TABLE = `${BRIDGES} ${CELLS.join(' ')} ${RIVERS}`;

async function drawn(): Promise<Sample[]> {
  const plain = (name: string, picture: Uint8Array, text: string, cells: readonly string[] = []): Sample => ({
    name,
    picture,
    text,
    cells,
  });
  const scan = (picture: Uint8Array) =>
    sharp(picture).blur(0.8).modulate({ brightness: 0.9 }).jpeg({ quality: 45 }).toBuffer();
  return [
    plain('one column', drawnPage(A4, article), ARTICLE),
    plain('one column, 300 dpi', drawnPage({ ...A4, scale: 2 }, article), ARTICLE),
    plain('two columns', drawnPage(A4, columns), COLUMNS),
    plain('three columns', drawnPage(A4, threeColumns), THREE_COLUMNS),
    plain('table, aligned', drawnPage(A4, aligned), TABLE, CELLS),
    plain('table, ruled', drawnPage(A4, ruled), TABLE, CELLS),
    plain('scanned, JPEG', await scan(drawnPage(A4, columns)), COLUMNS),
    plain('slanted by 3°', drawnPage({ ...A4, degrees: 3 }, columns), COLUMNS),
    plain('on its side', drawnPage({ ...A4, degrees: 90 }, columns), COLUMNS),
    plain('upside down', drawnPage({ ...A4, degrees: 180 }, article), ARTICLE),
    plain('light on dark', drawnPage({ ...A4, paper: '#123', ink: '#eee' }, columns), COLUMNS),
    plain('half the size', drawnPage({ ...A4, scale: 0.5 }, article), ARTICLE),
  ];
}

const PICTURES = /\.(?:png|jpe?g|webp|tiff?)$/i;

const inFolder = (folder: string): Sample[] =>
  readdirSync(folder)
    .filter((name) => PICTURES.test(name))
    .map((name) => ({
      name,
      picture: readFileSync(path.join(folder, name)),
      text: readFileSync(path.join(folder, name.replace(PICTURES, '.txt')), 'utf8'),
      cells: [],
    }));

const spaced = (text: string) => text.replace(/\s+/g, ' ').trim();

/** Edits from one list to the other (Levenshtein), in parts of the first. */
function errorRate(want: readonly string[], got: readonly string[]): number {
  let before = Uint32Array.from({ length: got.length + 1 }, (_, at) => at);
  let row = new Uint32Array(got.length + 1);
  for (let i = 1; i <= want.length; i++) {
    row[0] = i;
    for (let j = 1; j <= got.length; j++) {
      const change = before[j - 1]! + (want[i - 1] === got[j - 1] ? 0 : 1);
      row[j] = Math.min(change, before[j]! + 1, row[j - 1]! + 1);
    }
    [before, row] = [row, before];
  }
  return before[got.length]! / Math.max(1, want.length);
}

function foundShare(want: readonly string[], got: readonly string[]): number {
  const left = new Map<string, number>();
  for (const word of got) left.set(word, (left.get(word) ?? 0) + 1);
  let found = 0;
  for (const word of want) {
    const count = left.get(word) ?? 0;
    if (count > 0) found++;
    left.set(word, count - 1);
  }
  return found / Math.max(1, want.length);
}

const cellsOf = ({ blocks }: OcrResult): string[] =>
  blocks.flatMap((block) => (block.kind === 'table' ? block.rows.flatMap((row) => row.map(({ text }) => text)) : []));

const dense = (text: string) => text.replaceAll(' ', '');

interface Score {
  readonly ms: number;
  readonly characters: number;
  readonly words: number;
  readonly found: number;
  readonly cells: number | undefined;
}

function scored(sample: Sample, text: string, cells: readonly string[] | undefined, ms: number): Score {
  const [want, got] = [spaced(sample.text), spaced(text)];
  const right = cells && sample.cells.filter((cell, at) => dense(cells[at] ?? '') === dense(cell)).length;
  return {
    ms,
    characters: errorRate([...want], [...got]),
    words: errorRate(want.split(' '), got.split(' ')),
    found: foundShare(want.split(' '), got.split(' ')),
    cells: sample.cells.length > 0 ? (right ?? 0) / sample.cells.length : undefined,
  };
}

const folder = process.argv[2];
const samples = folder === undefined ? await drawn() : inFolder(folder);
const work = mkdtempSync(path.join(os.tmpdir(), 'lectern-bench-'));
const ocr = createOcr({ tesseract: 'tesseract', languages: ['eng'], temporaryDir: work, timeoutMs: 300_000 })!;
const { signal } = new AbortController();
// What is started once is not what is measured.
await ocr.read(samples[0]!.picture, { signal });

function plainTesseract({ picture }: Sample): { text: string; ms: number } {
  const file = path.join(work, 'page');
  writeFileSync(file, picture);
  const start = performance.now();
  const env = { ...process.env, OMP_THREAD_LIMIT: '1' };
  const text = execFileSync('tesseract', [file, 'stdout', '-l', 'eng'], { env, stdio: ['ignore', 'pipe', 'ignore'] });
  return { text: text.toString('utf8'), ms: performance.now() - start };
}

const ours: Score[] = [];
const theirs: Score[] = [];
for (const sample of samples) {
  const start = performance.now();
  const result = await ocr.read(sample.picture, { signal });
  const ms = performance.now() - start;
  ours.push(scored(sample, result.text, cellsOf(result), ms));
  const plain = plainTesseract(sample);
  theirs.push(scored(sample, plain.text, undefined, plain.ms));
}
await ocr.close();
rmSync(work, { recursive: true, force: true });

const percent = (value: number | undefined) => (value === undefined ? '' : `${(100 * value).toFixed(1)} %`);
const mean = (values: readonly (number | undefined)[]): number | undefined => {
  const known = values.filter((value) => value !== undefined);
  return known.length === 0 ? undefined : known.reduce((sum, value) => sum + value, 0) / known.length;
};
const pair = (of: (score: Score) => number | undefined, a: readonly Score[], b: readonly Score[]) => [
  percent(mean(a.map(of))),
  percent(mean(b.map(of))),
];
const line = (name: string, a: readonly Score[], b: readonly Score[]) => [
  name,
  ...pair(({ characters }) => characters, a, b),
  ...pair(({ words }) => words, a, b),
  ...pair(({ found }) => found, a, b),
  percent(mean(a.map(({ cells }) => cells))),
  ((1_000 * a.length) / a.reduce((sum, { ms }) => sum + ms, 0)).toFixed(2),
  ((1_000 * b.length) / b.reduce((sum, { ms }) => sum + ms, 0)).toFixed(2),
];
console.log(machine());
console.log(
  table(
    [
      '',
      'char. errors',
      'tesseract',
      'word errors',
      'tesseract',
      'found',
      'tesseract',
      'cells',
      'pages/s',
      'tesseract',
    ],
    [...samples.map(({ name }, at) => line(name, [ours[at]!], [theirs[at]!])), line('all', ours, theirs)],
  ),
);
