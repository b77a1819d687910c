/**
 * Embeds the pages of PDFs through `POST /v1/embeddings`, with a model that has CLIP's picture size and fixed weights,
 * so that mainly the preparation of the pages is measured: `tsx --conditions=source bench/models-pages.ts`.
 * `--pages 20` uses fewer pages.
 */
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import os from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import sharp from 'sharp';
import { drawPdf, write } from '#documents/pdf/drawn.suite.ts';
import { createGraph } from '../src/models/onnx/onnx-file.suite.ts';
import { writeTowers } from '../src/models/onnx/towers.suite.ts';
import { freePorts } from '../test/support/free-ports.ts';
import { report } from './report.ts';
import { build, descendantsMb, machine, percentile, residentMb, serve, sized } from './support.ts';

const { values } = parseArgs({ options: { pages: { type: 'string', default: sized('200', '2') } } });
const PAGES = Number(values.pages);
const SIDE = 224;
const PATCH = 32;
const SIZE = 16;
const SAMPLE_MS = 20;

const WORDS = 'the water of a river runs through four districts and the city drinks from it every day'.split(' ');
const line = (seed: number) =>
  Array.from({ length: 16 }, (_, at) => WORDS[(seed * 7 + at * 5) % WORDS.length]).join(' ');
const lines = (page: number, count: number) =>
  Array.from({ length: count }, (_, at) => `${page}.${at} ${line(page + at)}`);
const numbers = Array.from({ length: PAGES }, (_, at) => at);

const textPdf = () => drawPdf({ pages: numbers.map((page) => ({ content: write(50, 790, lines(page, 50)) })) });

/** A page with a different picture each time, above half a page of text. */
async function picturePdf(): Promise<Uint8Array> {
  const [width, height] = [640, 480];
  const objects: string[] = [];
  for (const page of numbers) {
    const rgb = Buffer.alloc(width * height * 3);
    for (let at = 0; at < rgb.length; at++) {
      rgb[at] = 128 + 100 * Math.sin(at / (700 + page)) * Math.cos(at / (1_921 * (1 + (page % 7))));
    }
    const jpeg = await sharp(rgb, { raw: { width, height, channels: 3 } })
      .jpeg({ quality: 60 })
      .toBuffer();
    objects.push(
      `<< /Type /XObject /Subtype /Image /Width ${width} /Height ${height} /ColorSpace /DeviceRGB /BitsPerComponent 8 /Filter /DCTDecode /Length ${jpeg.length} >>\nstream\n${jpeg.toString('latin1')}\nendstream`,
    );
  }
  const named = numbers.map((page) => `/I${page} ${10 + page} 0 R`).join(' ');
  return drawPdf({
    objects,
    resources: `/XObject << ${named} >>`,
    pages: numbers.map((page) => ({
      content: `q 495 0 0 371 50 420 cm /I${page} Do Q\n${write(50, 390, lines(page, 24))}`,
    })),
  });
}

/** Writes the model of the tests, with CLIP's picture size. */
async function writeModel(folder: string) {
  const row = await writeTowers(folder, 'clip', { id: 'sees' });
  const graph = createGraph();
  const pixels = graph.input('pixel_values', 'float', ['pictures', 3, SIDE, SIDE]);
  const weights = Float32Array.from({ length: SIZE * 3 * PATCH * PATCH }, (_, at) => Math.sin(at) / 50);
  const kernel = graph.tensor('patches', [SIZE, 3, PATCH, PATCH], weights);
  const patches = graph.node('Conv', [pixels, kernel], { kernel_shape: [PATCH, PATCH], strides: [PATCH, PATCH] });
  const mean = graph.node('ReduceMean', [graph.node('Tanh', [patches])], { axes: [2, 3], keepdims: 0 });
  graph.output('image_embeds', mean, ['pictures', SIZE]);
  writeFileSync(path.join(folder, 'onnx/vision_model.onnx'), graph.bytes());
  const config = { size: { shortest_edge: SIDE }, crop_size: SIDE };
  writeFileSync(path.join(folder, 'preprocessor_config.json'), JSON.stringify(config));
  return row;
}

interface Answer {
  readonly status: number;
  readonly text: string;
}

const call = (method: string, url: string, body?: string): Promise<Answer> =>
  new Promise((resolve, reject) => {
    const headers = { authorization: 'Bearer any', 'content-type': 'application/json' };
    const request = http.request(url, { method, headers }, (answer) => {
      const chunks: Buffer[] = [];
      answer.on('data', (chunk: Buffer) => chunks.push(chunk));
      answer.on('end', () => resolve({ status: answer.statusCode ?? 0, text: Buffer.concat(chunks).toString() }));
    });
    request.on('error', reject);
    request.end(body);
  });

/** Processor seconds of a process and its descendants. */
function processorSeconds(pid: number): { main: number; others: number } {
  const facts = new Map<number, { parent: number; ticks: number }>();
  for (const name of readdirSync('/proc').filter((entry) => /^\d+$/.test(entry))) {
    try {
      const stat = readFileSync(`/proc/${name}/stat`, 'utf8');
      const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
      facts.set(Number(name), { parent: Number(fields[1]), ticks: Number(fields[11]) + Number(fields[12]) });
    } catch {
      // The process has exited since it was listed.
    }
  }
  let others = 0;
  for (const [id, { ticks }] of facts) {
    for (let at = facts.get(id)?.parent; at; at = facts.get(at)?.parent) if (at === pid) others += ticks;
  }
  return { main: (facts.get(pid)?.ticks ?? 0) / 100, others: others / 100 };
}

async function measure(
  { pid, models }: { pid: number; models: string },
  pdf: Uint8Array,
): Promise<(string | number)[]> {
  const body = JSON.stringify({ model: 'sees', input: { pdf: Buffer.from(pdf).toString('base64') } });
  const waits: number[] = [];
  let peak = 0;
  let around = 0;
  let done = false;
  const before = processorSeconds(pid);
  const watch = (async () => {
    for (let turn = 0; !done; turn++) {
      const asked = performance.now();
      await call('GET', `${models}/v1/models`);
      waits.push(performance.now() - asked);
      peak = Math.max(peak, residentMb(pid));
      if (turn % 10 === 0) around = Math.max(around, descendantsMb(pid));
      await new Promise((resolve) => setTimeout(resolve, SAMPLE_MS));
    }
  })();
  const startedAt = performance.now();
  const { status, text } = await call('POST', `${models}/v1/embeddings`, body);
  const seconds = (performance.now() - startedAt) / 1_000;
  done = true;
  await watch;
  const after = processorSeconds(pid);
  const vectors = status === 200 ? JSON.parse(text).data.length : 0;
  if (vectors === 0) throw new Error(text.slice(0, 300));
  return [
    pdf.length / 1e6,
    seconds,
    after.main - before.main,
    after.others - before.others,
    peak,
    around,
    percentile(waits, 0.5),
    percentile(waits, 0.99),
    Math.max(...waits),
  ];
}

build();
const folder = mkdtempSync(path.join(os.tmpdir(), 'lectern-bench-model-'));
const model = await writeModel(folder);
const port = await freePorts();
const server = await serve({
  LECTERN_MODELS: JSON.stringify([model]),
  LECTERN_MODEL_PORT: String(port),
  LECTERN_COMPAT_PORT: '0',
  LECTERN_AUTH: 'off',
  LECTERN_MODEL_DEADLINE_MS: '600000',
});
const target = { pid: server.pid, models: `http://127.0.0.1:${port}` };
try {
  const pdfs: [string, Uint8Array][] = [
    ['text', textPdf()],
    ['text and a picture', await picturePdf()],
  ];
  await measure(target, drawPdf({ pages: [{ content: '' }] }));
  const rows: (string | number)[][] = [];
  for (const [name, pdf] of pdfs) rows.push([name, ...(await measure(target, pdf))]);
  console.log(`${machine()}, load ${os.loadavg()[0]!.toFixed(1)}, ${PAGES} pages\n`);
  report(
    'models-pages',
    [
      'pages of',
      'MB',
      's',
      'processor s: main',
      'others',
      'memory MB: main',
      'others',
      'a list of models ms: median',
      'p99',
      'most',
    ],
    rows,
  );
} finally {
  await server.stop();
  rmSync(folder, { recursive: true, force: true });
}
