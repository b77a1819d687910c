/**
 * Embeddings over HTTP with the built-in model: texts and tokens per second by concurrency, batch size, length and
 * encoding, compared with a naive server of the same model (naive-embeddings.ts). Lectern is the program as users run
 * it, with a key, limits and the journal of charges. Each server is a process of its own, and the client another.
 * `--seconds 3` measures longer.
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import http from 'node:http';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { bundleProcess } from '../test/support/bundled.ts';
import { makeKey, startServer } from './cluster.ts';
import { nodeBaseline, report } from './report.ts';
import { build, sized } from './support.ts';

const { values } = parseArgs({ options: { seconds: { type: 'string', default: sized('2', '0.05') } } });
const SECONDS = Number(values.seconds);

const WORDS = 'the water of a river runs through four districts and the city drinks from it every day'.split(' ');
const text = (words: number, seed: number) =>
  Array.from({ length: words }, (_, at) => WORDS[(at * 7 + seed * 3) % WORDS.length]).join(' ');

interface Case {
  readonly concurrency: number;
  readonly batch: number;
  readonly words: number;
  readonly dimensions: number;
  readonly encoding: 'float' | 'base64';
}

interface Measured {
  readonly texts: number;
  readonly tokens: number;
}

interface Target {
  readonly url: string;
  readonly key: string;
}

async function measure({ url, key }: Target, one: Case, forSeconds = SECONDS): Promise<Measured> {
  const { concurrency, batch, words, dimensions, encoding } = one;
  const agent = new http.Agent({ keepAlive: true, maxSockets: concurrency });
  const input = Array.from({ length: batch }, (_, index) => text(words, index));
  const body = JSON.stringify({ model: 'lectern-static-v2', input, dimensions, encoding_format: encoding });
  let texts = 0;
  let tokens = 0;
  const startedAt = performance.now();
  const end = startedAt + forSeconds * 1000;
  await Promise.all(
    Array.from({ length: concurrency }, async () => {
      while (performance.now() < end) {
        const answer = await post(url, key, body, agent);
        const counted = /"total_tokens":(\d+)/.exec(answer);
        if (!counted) throw new Error(answer.slice(0, 300));
        tokens += Number(counted[1]);
        texts += batch;
      }
    }),
  );
  const seconds = (performance.now() - startedAt) / 1000;
  agent.destroy();
  return { texts: texts / seconds, tokens: tokens / seconds };
}

const post = (url: string, key: string, body: string, agent: http.Agent): Promise<string> =>
  new Promise((resolve, reject) => {
    const headers = {
      authorization: `Bearer ${key}`,
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(body),
    };
    http
      .request(`${url}/v1/embeddings`, { method: 'POST', agent, headers }, (answer) => {
        const chunks: Buffer[] = [];
        answer.on('data', (chunk: Buffer) => chunks.push(chunk));
        answer.on('end', () => resolve(Buffer.concat(chunks).toString('latin1')));
      })
      .on('error', reject)
      .end(body);
  });

/** Starts the naive server in a process of its own, bundled like the program. */
async function startNaive(): Promise<{ url: string; close(): void }> {
  const child = fork(await bundleProcess(path.join(import.meta.dirname, 'naive-embeddings.ts')), { execArgv: [] });
  const [port] = (await once(child, 'message')) as [number];
  return { url: `http://127.0.0.1:${port}`, close: () => child.kill() };
}

const cases: Case[] = [];
for (const dimensions of sized([256, 1_024], [256])) {
  for (const encoding of ['float', 'base64'] as const) {
    for (const words of sized([16, 128], [16])) {
      for (const [concurrency, batch] of [
        [1, 1],
        [16, 1],
        [1, 32],
        [16, 32],
        [4, 100],
      ] as const) {
        cases.push({ concurrency, batch, words, dimensions, encoding });
      }
    }
  }
}

build();
const server = await startServer({ LECTERN_BROWSER: 'none' });
const host: Target = { url: server.modelUrl, key: await makeKey(server, 'premium') };
const started = await startNaive();
const naive: Target = { url: started.url, key: 'none' };
// Warm-up, so that compilation is not measured.
for (const one of cases.filter(({ words }) => words === 16)) {
  for (const target of [host, naive]) await measure(target, one, sized(0.3, 0.05));
}
const rows: string[][] = [];
const round = (value: number) => Math.round(value).toLocaleString('en');
for (const one of cases) {
  const lecternRates = await measure(host, one);
  const naiveRates = await measure(naive, one);
  rows.push([
    String(one.dimensions),
    one.encoding,
    String(one.words),
    String(one.concurrency),
    String(one.batch),
    round(lecternRates.texts),
    round(lecternRates.tokens),
    round(naiveRates.texts),
    `${(lecternRates.texts / naiveRates.texts).toFixed(2)} x`,
  ]);
}
report(
  'models-http',
  ['dimensions', 'encoding', 'words', 'at once', 'batch', 'texts/s', 'tokens/s', 'naive texts/s', 'ratio'],
  rows,
  { ratios: ['ratio'], baselines: [nodeBaseline('naive server of the same model')] },
);
started.close();
await server.stop();
