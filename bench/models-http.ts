/**
 * Embeddings over HTTP with the built-in model: texts and tokens per second by concurrency, batch size, length and
 * encoding, compared with a naive server (`node:http`, one request at a time through the same model, `JSON.stringify`
 * of arrays). `--seconds 3` measures longer.
 */
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { parseArgs } from 'node:util';
import { finishVector } from '#models/index.ts';
import { createStaticBackends } from '#models/static/backends.ts';
import { startRealModelHost } from '../test/support/model-host.ts';
import { nodeBaseline, report } from './report.ts';
import { sized } from './support.ts';

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

async function measure(url: string, one: Case, forSeconds = SECONDS): Promise<Measured> {
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
        const answer = await post(url, body, agent);
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

const post = (url: string, body: string, agent: http.Agent): Promise<string> =>
  new Promise((resolve, reject) => {
    const headers = {
      authorization: 'Bearer test-key',
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

/** Starts the naive server. */
async function startNaive() {
  const { embedder } = createStaticBackends();
  await embedder.load();
  const { signal } = new AbortController();
  let turn: Promise<unknown> = Promise.resolve();
  const server = http.createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request.setEncoding('utf8')) body += chunk;
    const { input, dimensions } = JSON.parse(body) as { input: string[]; dimensions: number };
    const work = turn.then(async () => {
      const prepared = await embedder.prepare(input, { signal });
      const outputs = await embedder.embed(prepared, { output: 'pooled', dimensions, signal });
      const total_tokens = prepared.reduce((sum, { tokens }) => sum + tokens, 0);
      const data = outputs.map((output, index) => ({
        object: 'embedding',
        index,
        embedding: [...finishVector(output.values, { dimensions, normalized: true })],
      }));
      return JSON.stringify({ object: 'list', usage: { total_tokens, prompt_tokens: total_tokens }, data });
    });
    turn = work;
    response.setHeader('content-type', 'application/json').end(await work);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, close: () => server.close() };
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

const host = await startRealModelHost({}, { auth: 'off' });
const naive = await startNaive();
// Warm-up, so that compilation is not measured.
for (const one of cases.filter(({ words }) => words === 16)) {
  for (const { url } of [host, naive]) await measure(url, one, sized(0.3, 0.05));
}
const rows: string[][] = [];
const round = (value: number) => Math.round(value).toLocaleString('en');
for (const one of cases) {
  const lecternRates = await measure(host.url, one);
  const naiveRates = await measure(naive.url, one);
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
naive.close();
await host.close();
process.exit(0);
