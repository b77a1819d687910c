/**
 * Text recognition, compared with the plain Tesseract program:
 * `tsx --conditions=source bench/ocr.ts [folder [choice]]`. The pages are drawn here, or come from a folder of pictures
 * or PDFs (`ocr/folder.ts`). `ocr/score.ts` defines the scores. `ocr/plain.ts` defines how the output of plain
 * Tesseract is interpreted.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import sharp from 'sharp';
import { createOcr, type OcrResult } from '#ocr/index.ts';
import {
  A4,
  BRIDGE_ROWS,
  BRIDGES,
  type Draw,
  drawnPage,
  drawRows,
  drawText,
  RIVERS,
} from '../src/ocr/drawn-pages.suite.ts';
import { samplesIn } from './ocr/folder.ts';
import { hardPages, type Sample } from './ocr/pages.ts';
import { plainTables, plainText } from './ocr/plain.ts';
import { type Score, scoreOf, type Table } from './ocr/score.ts';
import { programBaseline, report } from './report.ts';
import { machine, SMOKE } from './support.ts';

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

async function easyPages(): Promise<Sample[]> {
  const plain = (name: string, picture: Uint8Array, text: string, tables: readonly Table[] = []): Sample => ({
    name,
    kind: 'drawn, plain',
    picture,
    text,
    tables,
  });
  const scan = (picture: Uint8Array) =>
    sharp(picture).blur(0.8).modulate({ brightness: 0.9 }).jpeg({ quality: 45 }).toBuffer();
  return [
    plain('one column', drawnPage(A4, article), ARTICLE),
    plain('one column, 300 dpi', drawnPage({ ...A4, scale: 2 }, article), ARTICLE),
    plain('two columns', drawnPage(A4, columns), COLUMNS),
    plain('three columns', drawnPage(A4, threeColumns), THREE_COLUMNS),
    plain('table, aligned', drawnPage(A4, aligned), TABLE, [BRIDGE_ROWS]),
    plain('table, ruled', drawnPage(A4, ruled), TABLE, [BRIDGE_ROWS]),
    plain('scanned, JPEG', await scan(drawnPage(A4, columns)), COLUMNS),
    plain('slanted by 3°', drawnPage({ ...A4, degrees: 3 }, columns), COLUMNS),
    plain('on its side', drawnPage({ ...A4, degrees: 90 }, columns), COLUMNS),
    plain('upside down', drawnPage({ ...A4, degrees: 180 }, article), ARTICLE),
    plain('light on dark', drawnPage({ ...A4, paper: '#123', ink: '#eee' }, columns), COLUMNS),
    plain('half the size', drawnPage({ ...A4, scale: 0.5 }, article), ARTICLE),
  ];
}

const [folder, choice] = process.argv.slice(2);
const drawn = async () => (SMOKE ? (await easyPages()).slice(0, 1) : [...(await easyPages()), ...(await hardPages())]);
const samples = folder === undefined ? await drawn() : samplesIn(folder, choice);
const work = mkdtempSync(path.join(os.tmpdir(), 'lectern-bench-'));
const ocr = createOcr({ tesseract: 'tesseract', languages: [], temporaryDir: work, timeoutMs: 300_000 })!;
const { signal } = new AbortController();
// Warm-up, so that the start of the workers is not measured.
await ocr.read(samples[0]!.picture, { signal });

type Timed = Score & { readonly ms: number };

async function readByLectern(sample: Sample): Promise<Timed> {
  const start = performance.now();
  const result = await ocr.read(sample.picture, { signal });
  const ms = performance.now() - start;
  return { ms, ...scoreOf(sample, { text: result.text, tables: tablesOf(result), rowsMove: false }) };
}

function readByTesseract(sample: Sample): Timed {
  const file = path.join(work, 'page');
  writeFileSync(file, sample.picture);
  const start = performance.now();
  const text = plainText(file);
  const ms = performance.now() - start;
  const tables = sample.tables.length > 0 ? plainTables(file) : [];
  return { ms, ...scoreOf(sample, { text, tables, rowsMove: true }) };
}

/** The tables of a result. A cell that spans several columns is in the first of them. */
const tablesOf = ({ blocks }: OcrResult): Table[] =>
  blocks.flatMap((block) =>
    block.kind === 'table'
      ? [block.rows.map((row) => row.flatMap(({ text, columns: span }) => [text, ...Array<string>(span - 1).fill('')]))]
      : [],
  );

const lecternRuns: Timed[] = [];
const tesseractRuns: Timed[] = [];
for (const sample of samples) {
  lecternRuns.push(await readByLectern(sample));
  tesseractRuns.push(readByTesseract(sample));
}
await ocr.close();
rmSync(work, { recursive: true, force: true });

const percent = (value: number | undefined) => (value === undefined ? '' : (100 * value).toFixed(1));
const mean = (values: readonly (number | undefined)[]): number | undefined => {
  const known = values.filter((value) => value !== undefined);
  return known.length === 0 ? undefined : known.reduce((sum, value) => sum + value, 0) / known.length;
};
const MEASURES = ['characters', 'words', 'found', 'order', 'cells'] as const;
const speed = (scores: readonly Timed[]) =>
  ((1_000 * scores.length) / scores.reduce((sum, { ms }) => sum + ms, 0)).toFixed(2);

function line(name: string, of: (sample: Sample) => boolean): string[] {
  const [a, b] = [lecternRuns, tesseractRuns].map((scores) => scores.filter((_, at) => of(samples[at]!))) as [
    Timed[],
    Timed[],
  ];
  const values = MEASURES.flatMap((measure) =>
    [a, b].map((scores) => percent(mean(scores.map((score) => score[measure])))),
  );
  return [name, ...values, speed(a), speed(b)];
}

const kinds = [...new Set(samples.map(({ kind }) => kind))];
console.log(machine());
report(
  'ocr',
  ['', ...['char. errors', 'word errors', 'found', 'order', 'cells', 'pages/s'].flatMap((name) => [name, 'tesseract'])],
  kinds.flatMap((kind) => [
    ...samples.filter((sample) => sample.kind === kind).map((sample) => line(sample.name, (other) => other === sample)),
    line(`**${kind}**`, (sample) => sample.kind === kind),
  ]),
  { baselines: [programBaseline('Tesseract', 'tesseract', '--version')] },
);
