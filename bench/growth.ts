/**
 * How time and memory grow with the size of the work: `npm run bench:growth -- [--only page,pdf,batch,connections,index]
 * [--most 30000000]`. Each curve has a table and a figure, `bench/growth/<name>.svg`. `--most` leaves out larger sizes.
 *
 * The exponent is the slope of the line through the logarithms of size and processor time (elapsed time for queries), over
 * the last two powers of ten: 1 is proportional. A curve whose points are all within a quarter of that line is called straight.
 */
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { drawPdf, write } from '#documents/pdf/drawn.suite.ts';
import { openLocalIndex } from '#search/index/open.ts';
import { parseQuery } from '#search/query.ts';
import { processorSeconds, type Server, startServer } from './cluster.ts';
import { growthFigure } from './growth/figure.ts';
import { fitOf, type Point } from './growth/fit.ts';
import { embedder, pagesOf, queriesOf } from './index-pages.ts';
import { get } from './load.ts';
import { report } from './report.ts';
import { build, descendantsMb, machine, median, residentMb, SMOKE, sized } from './support.ts';

const { values: flags } = parseArgs({
  options: {
    only: { type: 'string', default: 'page,pdf,batch,connections,index' },
    most: { type: 'string', default: String(Number.MAX_SAFE_INTEGER) },
    out: { type: 'string', default: path.join(import.meta.dirname, 'growth') },
  },
});
/** Small work is repeated for this time, and the median counts. */
const REPEAT_MS = sized(2_000, 1);
const SENTENCE = 'The pot of tea stands on the table and the steam goes up past the window where it is raining again. ';

interface Curve {
  readonly unit: string;
  readonly sizes: readonly number[];
  /** Does the work of this size. It throws an error if the result is wrong. */
  work(server: Server, size: number): Promise<void>;
}

/** What the site serves at `/<kind>/<size>`. */
const FILES: Readonly<Record<string, { readonly type: string; make(size: number): Buffer }>> = {
  page: {
    type: 'text/html; charset=utf-8',
    make(bytes) {
      const paragraph = `<p>${SENTENCE.repeat(4)}</p>\n`;
      const count = Math.max(1, Math.round(bytes / paragraph.length));
      return Buffer.from(
        `<!doctype html><html lang="en"><title>Tea</title><main><h1>Tea</h1>${paragraph.repeat(count)}</main>`,
      );
    },
  },
  pdf: {
    type: 'application/pdf',
    make(pages) {
      const lines = Array.from({ length: 40 }, (_, line) => `${line} ${SENTENCE.slice(0, 80)}`);
      return Buffer.from(drawPdf({ pages: Array.from({ length: pages }, () => ({ content: write(50, 780, lines) })) }));
    },
  },
  batch: {
    type: 'application/jsonl',
    make: (lines) =>
      Buffer.from(
        Array.from({ length: lines }, (_, at) =>
          JSON.stringify({
            custom_id: `line ${at}`,
            method: 'POST',
            url: '/v1/embeddings',
            body: { input: `${at} ${SENTENCE}` },
          }),
        ).join('\n'),
      ),
  },
};
let file: { path: string; bytes: Buffer } | undefined;
const site = http.createServer((request, response) => {
  const [, kind = '', size = ''] = request.url!.split('/');
  const known = FILES[kind];
  if (!known) return response.writeHead(404).end();
  if (file?.path !== request.url) file = { path: request.url!, bytes: known.make(Number(size)) };
  response.writeHead(200, { 'content-type': known.type, 'content-length': file!.bytes.length }).end(file!.bytes);
});
await once(site.listen(0, '127.0.0.1'), 'listening');
const host = `127.0.0.1:${(site.address() as { port: number }).port}`;
const urlOf = (kind: string, size: number | string) => `http://${host}/${kind}/${size}`;

const read = (kind: string) => async (server: Server, size: number) => {
  const headers = { 'x-engine': 'direct', 'x-no-cache': 'true', 'x-timeout': '180' };
  const { status, body } = await get(`${server.url}/${urlOf(kind, size)}`, headers);
  if (status !== 200 || !body.includes('the steam')) throw new Error(`status ${status}: ${body.slice(0, 300)}`);
};

async function runBatch({ modelUrl }: Server, lines: number): Promise<void> {
  const answer = await fetch(`${modelUrl}/v1/batch/embeddings`, {
    method: 'POST',
    body: JSON.stringify({ model: 'lectern-static-v2', input_url: urlOf('batch', lines), dimensions: 256 }),
  });
  if (!answer.ok) throw new Error(await answer.text());
  const { batch_id: id } = (await answer.json()) as { batch_id: string };
  for (;;) {
    const job = (await (await fetch(`${modelUrl}/v1/batch/${id}`)).json()) as {
      status: string;
      stats: { completed: number };
    };
    if (job.status === 'completed' && job.stats.completed === lines) return;
    if (!['pending', 'processing'].includes(job.status)) throw new Error(`the job is ${job.status}`);
    await sleep(20);
  }
}

/** Two cached reads over each of so many connections, all at once. */
async function readAtOnce(server: Server, connections: number): Promise<void> {
  const agent = new http.Agent({ keepAlive: true, maxSockets: connections });
  const client = async () => {
    for (let time = 0; time < 2; time++) {
      const { status, body } = await get(`${server.url}/${urlOf('page', 12_000)}`, { 'x-engine': 'direct' }, agent);
      if (status !== 200) throw new Error(`status ${status}: ${body.slice(0, 300)}`);
    }
  };
  await Promise.all(Array.from({ length: connections }, client));
  agent.destroy();
}

const CURVES: Readonly<Record<string, Curve>> = {
  page: { unit: 'bytes', sizes: sized([1e3, 1e4, 1e5, 3e5, 1e6, 3e6, 1e7, 3e7], [1e3, 1e4]), work: read('page') },
  pdf: { unit: 'pages', sizes: sized([1, 10, 30, 100, 300, 1_000, 2_000], [1, 2]), work: read('pdf') },
  batch: { unit: 'lines', sizes: sized([1, 10, 100, 1_000, 3_000, 10_000, 50_000], [1, 10]), work: runBatch },
  connections: { unit: 'connections', sizes: sized([1, 3, 10, 30, 100, 300, 1_000], [1, 3]), work: readAtOnce },
};

/** The most memory of the server and its processes while something runs, in MB. */
async function peakDuring(server: Server, work: () => Promise<void>): Promise<number> {
  const now = () => residentMb(server.pid) + descendantsMb(server.pid);
  let peak = now();
  const watch = setInterval(() => {
    peak = Math.max(peak, now());
  }, 100);
  try {
    await work();
  } finally {
    clearInterval(watch);
  }
  return Math.max(peak, now());
}

async function measure({ sizes, work }: Curve): Promise<Point[]> {
  const server = await startServer({
    LECTERN_ALLOW_NETWORKS: host,
    LECTERN_BROWSER: 'none',
    LECTERN_AUTH: 'off',
    LECTERN_MAX_FILE_BYTES: '100000000',
    LECTERN_MAX_ELEMENTS: '10000000',
    LECTERN_MAX_ELEMENTS_KEYLESS: '10000000',
    LECTERN_DOCUMENT_TIMEOUT_MS: '180000',
    LECTERN_RENDER_TIMEOUT_MS: '180000',
  });
  try {
    await work(server, sizes[0]!);
    const points: Point[] = [];
    for (const size of sizes) {
      const times: number[] = [];
      const before = processorSeconds();
      const memoryMb = await peakDuring(server, async () => {
        const end = performance.now() + REPEAT_MS;
        do {
          const from = performance.now();
          await work(server, size);
          times.push(performance.now() - from);
        } while (performance.now() < end);
      });
      const processorMs = (1000 * (processorSeconds().servers - before.servers)) / times.length;
      points.push({ size, ms: median(times), processorMs, memoryMb });
    }
    return points;
  } finally {
    await server.stop();
  }
}

const bytesOf = (file: string): number =>
  [file, `${file}-wal`].reduce((sum, name) => sum + (statSync(name, { throwIfNoEntry: false })?.size ?? 0), 0);

/** The index in this process: time of a query and of adding the passages, file size for memory. */
async function measureIndex(sizes: readonly number[]): Promise<{ query: Point[]; fill: Point[] }> {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'lectern-growth-'));
  const database = path.join(folder, 'index.db');
  const index = await openLocalIndex({ file: database, maxBytes: 1e12, embedder });
  const queries = queriesOf(sized(200, 5));
  const [query, fill]: [Point[], Point[]] = [[], []];
  let [added, fillMs, fillCpuMs] = [0, 0, 0];
  try {
    for (const size of sizes) {
      const fillFrom = performance.now();
      const cpuBefore = process.cpuUsage();
      while (added < size) {
        const pages = pagesOf(Math.min(5_000, size - added), added / 5);
        for (let at = 0; at < pages.length; at += 64)
          await Promise.all(pages.slice(at, at + 64).map((page) => index.add(page)));
        added += pages.length * 5;
      }
      await index.flush();
      fillMs += performance.now() - fillFrom;
      const cpu = process.cpuUsage(cpuBefore);
      fillCpuMs += (cpu.user + cpu.system) / 1000;
      const times: number[] = [];
      for (const text of queries) {
        const from = performance.now();
        await index.search(parseQuery(text, { count: 10 }));
        times.push(performance.now() - from);
      }
      const memoryMb = residentMb(process.pid);
      fill.push({ size, ms: fillMs, processorMs: fillCpuMs, memoryMb: bytesOf(database) / 1e6 });
      query.push({ size, ms: median(times), processorMs: Number.NaN, memoryMb });
    }
    return { query, fill };
  } finally {
    await index.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

const round = (value: number) => (Number.isNaN(value) ? '' : value.toPrecision(3));

function print(name: string, unit: string, points: readonly Point[], memory = 'MB at most'): void {
  const { exponent, shape } = fitOf(points);
  const verdict = `exponent ${exponent.toFixed(2)}, ${shape}`;
  console.log(`\n${name}: ${verdict}\n`);
  report(
    `growth.${name}`,
    [unit, 'ms', 'processor ms', memory, 'ms for each'],
    points.map(({ size, ms, processorMs, memoryMb }) => [
      size.toLocaleString('en-US'),
      round(ms),
      round(processorMs),
      round(memoryMb),
      round(ms / size),
    ]),
  );
  mkdirSync(flags.out, { recursive: true });
  writeFileSync(path.join(flags.out, `${name}.svg`), growthFigure({ name, unit, memory, points, verdict }));
  fits.push([
    name,
    `${points[0]!.size.toLocaleString('en-US')} to ${points.at(-1)!.size.toLocaleString('en-US')} ${unit}`,
    exponent.toFixed(2),
    shape,
  ]);
}

build();
const fits: string[][] = [];
console.log(`${machine()}, load ${os.loadavg()[0]!.toFixed(1)}`);
const most = Number(flags.most);
for (const name of flags.only.split(',')) {
  const curve = CURVES[name];
  if (curve) print(name, curve.unit, await measure({ ...curve, sizes: curve.sizes.filter((size) => size <= most) }));
  else if (name === 'index') {
    const sizes = sized([1e3, 1e4, 3e4, 1e5, 3e5, 1e6], [100, 200]).filter((size) => size <= most);
    const { query, fill } = await measureIndex(sizes);
    print('index-query', 'passages', query, 'MB resident');
    print('index-fill', 'passages', fill, 'MB on disk');
  } else throw new Error(`no curve ${name}; there are: ${[...Object.keys(CURVES), 'index'].join(', ')}`);
}
console.log('');
report('growth', ['curve', 'sizes', 'exponent', 'shape'], fits);
site.close();
if (SMOKE) process.exit(0);
