/**
 * Batch jobs: `npm run bench:batch`. Measures (1) the throughput of a job of 50,000 lines with the built-in model, in
 * lines per second, compared with sending the same texts in requests of 32; (2) the peak memory of a worker by job
 * size; and (3) the recovery of workers that are killed at random moments, 100 times or as often as the first argument
 * specifies, on SQLite and, if installed, on PostgreSQL. With `--redis`, only the kills are run, with notifications
 * through Redis.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { Readable } from 'node:stream';
import { parseArgs } from 'node:util';
import { openTestBatch, serve } from '../src/batch/batch.suite.ts';
import { killWorkers } from '../src/batch/kill.suite.ts';
import { kill, peakBytes, SMALL_HEAP, startWorkerProcess } from '../src/batch/worker-process.suite.ts';
import { serveProgram } from '../test/support/serve-program.ts';
import { startPostgres, startRedis } from '../test/support/start-services.ts';
import { ownBaseline, report } from './report.ts';
import { build, machine, sized } from './support.ts';

const { values, positionals } = parseArgs({ options: { redis: { type: 'boolean' } }, allowPositionals: true });
const KILLS = Number(positionals[0] ?? sized(100, 1));
const LINES = sized(50_000, 64);
const PER_REQUEST = 32;
const MB = 1024 * 1024;
const PROGRAM = 'dist/main.js';
const MODEL = 'lectern-static-v2';
const DIMENSIONS = 256;

const textOf = (at: number) => `Note ${at}: green tea is drunk hot in the morning, and cold with lemon in the summer.`;
const lineOf = (at: number) => `${JSON.stringify({ custom_id: `line ${at}`, body: { input: textOf(at) } })}\n`;

function* linesOf(count: number) {
  for (let at = 0; at < count; at++) yield lineOf(at);
}

/** Serves a file with the number of lines specified in the URL. */
async function startFiles() {
  const server = http.createServer((request, response) => {
    Readable.from(linesOf(Number(request.url!.slice(1)))).pipe(response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, close: () => server.close() };
}

const seconds = (sinceMs: number) => (performance.now() - sinceMs) / 1_000;

async function speeds(): Promise<(string | number)[][]> {
  const dataDir = mkdtempSync(path.join(os.tmpdir(), 'lectern-batch-'));
  const files = await startFiles();
  build();
  const server = await serveProgram(PROGRAM, {
    LECTERN_DATA_DIR: dataDir,
    LECTERN_BROWSER: 'none',
    LECTERN_AUTH: 'off',
    LECTERN_LOG_LEVEL: 'silent',
    LECTERN_ALLOW_NETWORKS: '127.0.0.1',
  });
  const url = server.urlOf('model host');
  const post = async (place: string, body: object) => {
    const answer = await fetch(url + place, { method: 'POST', body: JSON.stringify(body) });
    if (!answer.ok) throw new Error(await answer.text());
    return (await answer.json()) as { batch_id: string };
  };
  try {
    await post('/v1/embeddings', { model: MODEL, input: textOf(0) });
    const rows: (string | number)[][] = [];
    for (const atOnce of [1, 4]) {
      const startedMs = performance.now();
      let next = 0;
      const client = async () => {
        while (next < LINES) {
          const from = next;
          next += PER_REQUEST;
          const input = Array.from({ length: Math.min(PER_REQUEST, LINES - from) }, (_, at) => textOf(from + at));
          await post('/v1/embeddings', { model: MODEL, input, dimensions: DIMENSIONS });
        }
      };
      await Promise.all(Array.from({ length: atOnce }, client));
      rows.push([`requests of ${PER_REQUEST}, ${atOnce} at once`, Math.round(LINES / seconds(startedMs))]);
    }
    const startedMs = performance.now();
    const { batch_id: id } = await post('/v1/batch/embeddings', {
      model: MODEL,
      input_url: `${files.url}/${LINES}`,
      dimensions: DIMENSIONS,
    });
    for (;;) {
      const job = (await (await fetch(`${url}/v1/batch/${id}`)).json()) as {
        status: string;
        stats: { completed: number };
      };
      if (job.status === 'completed' && job.stats.completed === LINES) break;
      if (!['pending', 'processing'].includes(job.status)) throw new Error(`the job is ${job.status}`);
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    rows.push(['a job, its file fetched and its results written', Math.round(LINES / seconds(startedMs))]);
    return rows;
  } finally {
    await server.stop();
    files.close();
    rmSync(dataDir, { recursive: true, force: true });
  }
}

async function memory(): Promise<(string | number)[][]> {
  const dataDir = mkdtempSync(path.join(os.tmpdir(), 'lectern-batch-'));
  const files = await serve((request, response) => {
    Readable.from(linesOf(Number(request.url!.slice(1)))).pipe(response);
  });
  const room = await openTestBatch({ dataDir, jobs: 0 });
  try {
    const rows: (string | number)[][] = [];
    for (const count of sized([500, 5_000, 50_000], [50])) {
      const worker = await startWorkerProcess({ dataDir, batchMs: 0 }, SMALL_HEAP);
      await room.ended((await room.submit(`${files.url}/${count}`)).id);
      rows.push([count, Math.round((await peakBytes(worker)) / MB)]);
      await kill(worker);
    }
    return rows;
  } finally {
    await room.close();
    await files.close();
    rmSync(dataDir, { recursive: true, force: true });
  }
}

async function kills(databaseUrl?: string, redisUrl?: string): Promise<(string | number)[]> {
  const dataDir = mkdtempSync(path.join(os.tmpdir(), 'lectern-batch-'));
  try {
    const { duringWork, jobs, lines, lost, repeated, wrong } = await killWorkers(
      { dataDir, databaseUrl, redisUrl, batchMs: 15 },
      KILLS,
    );
    const store = `${databaseUrl ? 'PostgreSQL' : 'SQLite'}${redisUrl ? ', Redis' : ''}`;
    return [store, KILLS, duringWork, jobs, lines, lost, repeated, wrong];
  } finally {
    rmSync(dataDir, { recursive: true, force: true });
  }
}

console.log(machine());
const redis = values.redis ? await startRedis() : undefined;
if (values.redis && !redis) throw new Error('--redis needs Redis, which is not installed on this machine');
if (!redis) {
  report('batch.speed', [`${LINES.toLocaleString('en')} texts`, 'lines/s'], await speeds(), {
    baselines: [ownBaseline('requests of 32 texts')],
  });
  report('batch.memory', ['lines', 'peak memory of a worker with a heap of 64 MB, MB'], await memory());
}
const HEADS = ['store', 'kills', 'in work', 'jobs', 'lines', 'lost', 'repeated', 'wrong'];
const postgres = await startPostgres();
try {
  report('batch.kills-sqlite', HEADS, [await kills(undefined, redis?.url)]);
  if (postgres) report('batch.kills-postgres', HEADS, [await kills(postgres.url, redis?.url)]);
} finally {
  await postgres?.close();
  await redis?.close();
}
