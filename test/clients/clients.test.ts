/** Published clients with a real server: only the URL and the key are ours. */
import { execFile, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ChatHost, startChatHost } from '../support/chat-host.ts';
import { columnsPage } from '../support/drawn-page.ts';
import { startRealModelHost, type TestModelHost } from '../support/model-host.ts';

const run = promisify(execFile);
const LONG_MS = 240_000;
const installed = existsSync(path.join(import.meta.dirname, 'node_modules', '.package-lock.json'));

let host: TestModelHost;
let reading: ChatHost;
beforeAll(async () => {
  reading = await startChatHost();
  host = await startRealModelHost({
    modelAliases: {
      'text-embedding-3-small': 'lectern-static-v2',
      'jina-embeddings-v3': 'lectern-static-v2',
      'jina-clip-v2': 'lectern-static-v2',
      'jina-reranker-v1-base-en': 'lectern-static-rerank-v2',
    },
  });
});
afterAll(() => Promise.all([host.close(), reading.close()]));

const TEXTS = ['The river crosses four districts.', 'Tap water in the city is safe to drink.', ''];
const expected = async (body: Record<string, unknown>): Promise<number[][]> =>
  (await host.post('/v1/embeddings', { model: 'lectern-static-v2', ...body })).body.data.map(
    ({ embedding }: { embedding: number[] }) => embedding,
  );

describe.skipIf(!installed)('clients', () => {
  // biome-ignore lint/suspicious/noExplicitAny: tests read any field of the results
  let got: any;
  beforeAll(async () => {
    const program = path.join(import.meta.dirname, 'run.mjs');
    const dir = await mkdtemp(path.join(os.tmpdir(), 'lectern-clients-'));
    const picture = path.join(dir, 'page.png');
    await writeFile(picture, columnsPage);
    const args = [program, host.url, 'test-key', reading.url, picture];
    const { stdout } = await run(process.execPath, args, { maxBuffer: 64 * 1024 * 1024 });
    await rm(dir, { recursive: true });
    // Some clients print lines of their own. Our result is the last line.
    got = JSON.parse(stdout.slice(stdout.lastIndexOf('\n{"openai"') + 1));
  }, LONG_MS);

  it('OpenAI’s SDK', async () => {
    const { standard, floats, short, models, one, badKey, badModel, tokenIds } = got.openai;
    const vectors = await expected({ input: TEXTS });
    expect(standard).toMatchObject({ object: 'list', model: 'text-embedding-3-small' });
    expect(standard.usage.prompt_tokens).toBeGreaterThan(10);
    expect(standard.data).toEqual(vectors.map((vector) => [...Float32Array.from(vector)]));
    expect(floats).toEqual(vectors);
    expect(short).toEqual([...Float32Array.from((await expected({ input: TEXTS[0], dimensions: 256 }))[0]!)]);
    expect(models).toContain('text-embedding-3-small');
    expect(one).toBe('lectern-static-v2');
    expect(badKey.status).toBe(401);
    expect(badModel.status).toBe(400);
    expect(tokenIds.status).toBe(422);
  });

  it('OpenAI’s SDK reads a page of two columns with a table, whole and streamed', () => {
    const { whole, streamed, noImage } = got.reading;
    const text: string = whole.choices[0].message.content;
    expect(text).toMatch(/^# A Page of Two Columns\n\nRivers carry sediment/);
    expect(text.indexOf('Rivers carry')).toBeLessThan(text.indexOf('Bridges were built'));
    expect(text).toContain('| Bridge | Arches | Length | Built |\n| --- | --- | --- | --- |\n| Old Bridge |');
    expect([whole.choices[0].finish_reason, whole.usage.total_tokens > 1_000]).toEqual(['stop', true]);
    expect(streamed).toMatchObject({ text, finish: 'stop', usage: whole.usage });
    expect(streamed.pieces).toBeGreaterThan(3);
    expect(noImage).toMatchObject({ status: 400 });
  });

  it('LangChain’s', async () => {
    const { documents, query, found, badModel } = got.langchain;
    expect(documents).toEqual(await expected({ input: TEXTS }));
    expect([query]).toEqual(await expected({ input: ['water'] }));
    expect(found).toEqual([TEXTS[1]]);
    expect(badModel.message).toMatch(/^Model no-such-model not found\. Available for \/v1\/embeddings: /);
  });

  it('LlamaIndex’s', async () => {
    const { one, several, ranked } = got.llamaindex;
    const vectors = await expected({ input: TEXTS });
    expect(several).toEqual(vectors);
    expect(one).toEqual(vectors[0]);
    expect(ranked).toHaveLength(2);
    expect(ranked[0].text).toBe(TEXTS[1]);
    expect(ranked[0].score).toBeGreaterThan(ranked[1].score);
  });
});

const hasCurl = spawnSync('curl', ['--version']).status === 0;

it.skipIf(!hasCurl)('curl', async () => {
  const curl = async (...args: string[]) =>
    JSON.parse((await run('curl', ['--silent', '--show-error', ...args])).stdout) as Record<string, unknown>;
  const key = ['--header', 'Authorization: Bearer test-key'];
  const body = ['--data', JSON.stringify({ model: 'lectern-static-v2', input: 'hello', dimensions: 64 })];
  const answer = await curl(`${host.url}/v1/embeddings`, ...key, ...body);
  expect(answer).toMatchObject({ model: 'lectern-static-v2', data: [{ index: 0 }] });
  const json = ['--json', JSON.stringify({ model: 'jina-reranker-v1-base-en', query: 'a', documents: ['a', 'b'] })];
  const ranked = await curl(`${host.url}/v1/rerank`, ...key, ...json);
  expect(ranked).toMatchObject({ model: 'jina-reranker-v1-base-en', results: [{ index: 0 }, { index: 1 }] });
  expect(await curl(`${host.url}/v1/models`)).toMatchObject({ object: 'list' });
});
