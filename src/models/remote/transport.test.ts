// Full run only: waits for timeouts.
import { createServer } from 'node:net';
import { describe, expect, it } from 'vitest';
import type { Problem } from '#errors.ts';
import { createTrustedFetch } from '#net/trusted.ts';
import type { Fault, RecordedRequest } from './model-server.suite.ts';
import {
  closeFetchAfterAll,
  embedderAt,
  embedTexts,
  KEY,
  NEVER,
  problemOf,
  runsAt,
  startEmbedder,
} from './remote.suite.ts';
import { endpointUrl } from './transport.ts';

closeFetchAfterAll();

const always = (trouble: Fault) => ({ trouble: () => trouble });
const first = (times: number, trouble: Fault) => ({
  trouble: (_: RecordedRequest, index: number) => (index < times ? trouble : undefined),
});

describe('a server in trouble', () => {
  it('is retried when it is busy, unreachable or disconnects', async () => {
    const troubles: Fault[] = [
      { status: 429 },
      { status: 502 },
      { status: 503 },
      { status: 504 },
      'destroy',
      { raw: '{"data":[{"ind', after: 'destroy' },
    ];
    for (const trouble of troubles) {
      const { model, server } = await startEmbedder('openai', first(2, trouble));
      expect(await embedTexts(model, ['a'])).toHaveLength(1);
      expect(server.requests).toHaveLength(3);
    }
  });

  const cases: [string, Fault, number, Partial<Problem>][] = [
    ['429', { status: 429 }, 3, { name: 'ServiceNodeResourceDrainError', facts: { retryAfter: 5 } }],
    [
      '503 for long',
      { status: 503, headers: { 'retry-after': '40' } },
      1,
      { name: 'ServiceNodeResourceDrainError', facts: { retryAfter: 40 } },
    ],
    ['504', { status: 504 }, 3, { name: 'ServiceTimeoutError' }],
    ['500', { status: 500 }, 1, { name: 'DownstreamServiceFailureError' }],
    ['424', { status: 424 }, 1, { name: 'DownstreamServiceFailureError' }],
    [
      '401',
      { status: 401 },
      1,
      { name: 'DownstreamServiceFailureError', message: 'The model server rejected the API key' },
    ],
    ['a redirect', { status: 307, headers: { location: 'http://127.0.0.1:1/' } }, 1, { code: 422 }],
    ['a broken connection', 'destroy', 3, { name: 'ServiceNodeResourceDrainError', facts: { retryAfter: 5 } }],
    ['no JSON', { raw: '<html>secret', after: 'end' }, 1, { name: 'DownstreamServiceFailureError' }],
    ['nothing', { raw: '', after: 'end' }, 1, { name: 'DownstreamServiceFailureError' }],
    ['null', { raw: 'null', after: 'end' }, 1, { name: 'DownstreamServiceFailureError' }],
    ['another JSON', { raw: '{"data":{"length":1}}', after: 'end' }, 1, { name: 'DownstreamServiceFailureError' }],
    ['too much', { raw: ' '.repeat(3_000_000), after: 'silence' }, 1, { name: 'DownstreamServiceFailureError' }],
  ];
  it.each(cases)('that answers %s', async (_, trouble, requests, expected) => {
    const { model, server } = await startEmbedder('openai', always(trouble));
    const { name, code, message, facts } = await problemOf(embedTexts(model, ['a']));
    expect({ name, code, message, facts }).toMatchObject(expected);
    expect(server.requests).toHaveLength(requests);
  });

  it('has one deadline for all attempts', async () => {
    const { model } = await startEmbedder('openai', always({ raw: '{', after: 'silence' }), {}, { timeoutMs: 300 });
    expect(await problemOf(embedTexts(model, ['a']))).toMatchObject({ name: 'ServiceTimeoutError', code: 504 });
    const busy = always({ status: 503, headers: { 'retry-after': '3' } });
    const { model: away, server } = await startEmbedder('openai', busy, {}, { timeoutMs: 2_500 });
    expect(await problemOf(embedTexts(away, ['a']))).toMatchObject({ facts: { retryAfter: 3 } });
    expect(server.requests).toHaveLength(1);
  });

  it('that is not there', async () => {
    const listener = createServer();
    await new Promise<void>((resolve) => void listener.listen(0, '127.0.0.1', resolve));
    const { port } = listener.address() as { port: number };
    await new Promise((resolve) => listener.close(resolve));
    const model = embedderAt(runsAt('openai', `http://127.0.0.1:${port}`));
    const failure = await problemOf(embedTexts(model, ['a']));
    expect(failure).toMatchObject({ name: 'ServiceNodeResourceDrainError', facts: { retryAfter: 5 } });
  });

  it('is not asked while it is unreachable, and tried again later', async () => {
    let broken = true;
    const changes: string[] = [];
    const note = (_: object, message: string) => void changes.push(message);
    const { model, server } = await startEmbedder(
      'openai',
      { trouble: () => (broken ? { status: 500 } : undefined) },
      {},
      { log: { info: note, warn: note } },
    );
    for (let turn = 0; turn < 5; turn++) await problemOf(embedTexts(model, ['a']));
    const failure = await problemOf(embedTexts(model, ['a']));
    expect(failure).toMatchObject({ name: 'ServiceNodeResourceDrainError', facts: { retryAfter: 1 } });
    expect(server.requests).toHaveLength(5);
    broken = false;
    await expect.poll(() => embedTexts(model, ['a']), { timeout: 20_000 }).toHaveLength(1);
    expect(changes).toHaveLength(2);
    expect(changes.join()).not.toMatch(/127\.0\.0\.1/);
  });

  it('stays available after rejected requests', async () => {
    const { model, server } = await startEmbedder('openai', always({ status: 404 }));
    for (let turn = 0; turn < 8; turn++) {
      expect(await problemOf(embedTexts(model, ['a']))).toMatchObject({ name: 'DownstreamServiceFailureError' });
    }
    expect(server.requests).toHaveLength(8);
  });
});

describe('a caller who disconnects', () => {
  it('ends the request at the server', async () => {
    const { model, server } = await startEmbedder('openai', always({ raw: '{', after: 'silence' }));
    const prepared = await model.prepare(['a'], { signal: NEVER });
    const leaving = new AbortController();
    const work = model.embed(prepared, { output: 'pooled', dimensions: 16, signal: leaving.signal });
    await expect.poll(server.open, { timeout: 20_000 }).toBe(1);
    leaving.abort(new Error('left'));
    await expect(work).rejects.toThrow('left');
    await expect.poll(server.open, { timeout: 20_000 }).toBe(0);
  });

  it('does not count as a failure of the server', async () => {
    let silent = true;
    const { model, server } = await startEmbedder('openai', {
      trouble: () => (silent ? { raw: '{', after: 'silence' } : undefined),
    });
    const prepared = await model.prepare(['a'], { signal: NEVER });
    for (let turn = 1; turn <= 8; turn++) {
      const leaving = new AbortController();
      const work = model.embed(prepared, { output: 'pooled', dimensions: 16, signal: leaving.signal });
      await expect.poll(() => server.requests.length, { timeout: 20_000 }).toBe(turn);
      leaving.abort(new Error('left'));
      await expect(work).rejects.toThrow('left');
    }
    silent = false;
    expect(await embedTexts(model, ['a'])).toHaveLength(1);
  });

  it('ends the pause between two attempts', async () => {
    const away = always({ status: 503, headers: { 'retry-after': '5' } });
    const { model, server } = await startEmbedder('openai', away);
    const prepared = await model.prepare(['a'], { signal: NEVER });
    const leaving = new AbortController();
    const work = model.embed(prepared, { output: 'pooled', dimensions: 16, signal: leaving.signal });
    await expect.poll(() => server.requests.length, { timeout: 20_000 }).toBe(1);
    leaving.abort(new Error('left'));
    await expect(work).rejects.toThrow('left');
    expect(server.requests).toHaveLength(1);
  });
});

describe('closing', () => {
  it('aborts running requests and rejects new ones', async () => {
    const { model, server } = await startEmbedder('openai', always({ raw: '{', after: 'silence' }));
    const work = problemOf(embedTexts(model, ['a']));
    await expect.poll(server.open, { timeout: 20_000 }).toBe(1);
    await model.close();
    expect(await work).toMatchObject({ name: 'ServiceNodeResourceDrainError' });
    expect(await problemOf(embedTexts(model, ['a']))).toMatchObject({ name: 'ServiceNodeResourceDrainError' });
    expect(server.requests).toHaveLength(1);
    await model.close();
  });
});

describe('requests', () => {
  it('carry the key, which appears nowhere else', async () => {
    const { model, server } = await startEmbedder('openai', { key: KEY });
    await embedTexts(model, ['a']);
    expect(server.requests[0]!.headers.authorization).toBe(`Bearer ${KEY}`);
    expect(JSON.stringify([server.requests[0]!.body, server.requests[0]!.path])).not.toContain(KEY);
  });

  it('are limited in number', async () => {
    const { model, server } = await startEmbedder('ollama', always({ lateMs: 20 }));
    await Promise.all(Array.from({ length: 12 }, (_, index) => embedTexts(model, [`text ${index}`])));
    expect(server.requests).toHaveLength(12);
    expect(server.most()).toBe(model.parallel);
  });

  it('stay inside the region', async () => {
    const log = { info: () => {}, warn: () => {} };
    const fetch = createTrustedFetch({ region: 'eu', euHosts: ['models.example'], log });
    const { model, server } = await startEmbedder('openai', {}, {}, { fetch });
    const failure = await problemOf(embedTexts(model, ['a']));
    expect(failure).toMatchObject({ name: 'DownstreamServiceFailureError' });
    expect(failure.message).toMatch(/EU/);
    expect(server.requests).toHaveLength(0);
    await fetch.close();
  });
});

it.each([
  ['http://host', 'versioned', '/embeddings', 'http://host/v1/embeddings'],
  ['http://host/v1/', 'versioned', '/embeddings', 'http://host/v1/embeddings'],
  ['https://host/v1beta/openai', 'versioned', '/embeddings', 'https://host/v1beta/openai/embeddings'],
  ['https://host/v1?api-version=2', 'versioned', '/embeddings', 'https://host/v1/embeddings?api-version=2'],
  ['http://host/v1', 'root', '/rerank', 'http://host/rerank'],
  ['http://host/models/a/v1/', 'root', '/v1/embeddings', 'http://host/models/a/v1/embeddings'],
  ['http://host/api', 'root', '/api/embed', 'http://host/api/embed'],
  ['http://host/v1', 'given', '/rerank', 'http://host/v1/rerank'],
  ['http://host', 'given', '/rerank', 'http://host/rerank'],
] as const)('%s is %s: %s', (base, style, path, expected) => {
  expect(endpointUrl(new URL(base), style, path).href).toBe(expected);
});
