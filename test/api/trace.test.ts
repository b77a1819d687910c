/** The trace of a request, which has the same format in every API. */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { startChatServer } from '#models/chat/chat-server.suite.ts';
import { SPANS, type TraceJson } from '#telemetry/trace.ts';
import { parseEvents, startServer, type TestServer } from '../support/server.ts';

const PAGE = `<html><head><title>Followed</title></head><body><article><h1>Followed</h1>${'<p>Words of a page that is read.</p>'.repeat(20)}</article></body></html>`;

let server: TestServer;
let site: Server;
let page: string;
let key: string;
beforeAll(async () => {
  site = createServer((request, response) => {
    if (request.url === '/moved') return response.writeHead(302, { location: '/page', connection: 'close' }).end();
    if (request.url === '/gone') return request.socket.destroy();
    response.writeHead(200, { 'content-type': 'text/html', connection: 'close' }).end(PAGE);
  });
  await new Promise<void>((resolve) => site.listen(0, '127.0.0.1', resolve));
  page = `http://127.0.0.1:${(site.address() as AddressInfo).port}`;
  server = await startServer({ allowNetworks: '127.0.0.1', browser: 'none', searchKeyless: 'limited' });
  key = server.app.firstKey!;
});
afterAll(async () => {
  await server?.close();
  site?.close();
});

const NAMES = Object.keys(SPANS);

function expectComplete(trace: TraceJson | undefined): asserts trace is TraceJson {
  expect(trace).toBeDefined();
  expect(trace!.id).toMatch(/^[\da-f]{32}$/);
  expect(trace!.duration_ms).toBeGreaterThan(0);
  expect(trace!.spans.length).toBeGreaterThan(0);
  for (const { name, start_ms: start, duration_ms: took } of trace!.spans) {
    expect(NAMES).toContain(name);
    expect(start).toBeGreaterThanOrEqual(0);
    expect(took).toBeGreaterThanOrEqual(0);
    expect(start + took).toBeLessThanOrEqual(trace!.duration_ms + 50);
  }
  // The trace contains no URL, host or port.
  expect(JSON.stringify(trace)).not.toMatch(/127\.0\.0\.1|localhost|http:|lectern_/);
}

const namesOf = (trace: TraceJson) => trace.spans.map(({ name }) => name);

async function read(url: string, headers: Record<string, string> = {}) {
  const answer = await fetch(`${server.reader}/${url}`, { headers: { accept: 'application/json', ...headers } });
  return { answer, body: (await answer.json()) as { data: unknown; meta?: { trace?: TraceJson } } };
}

describe('the reader', () => {
  it('adds no trace unless asked', async () => {
    const { answer, body } = await read(`${page}/quiet`);
    expect(body.meta).toEqual({ usage: expect.anything() });
    expect(answer.headers.has('server-timing')).toBe(false);
    expect((await read(`${page}/quiet`, { 'x-trace': 'false' })).body.meta?.trace).toBeUndefined();
  });

  it.each([
    ['without a key', false],
    ['with a key', true],
  ])('traces each step of a live read, %s', async (_, keyed) => {
    const headers = { 'x-trace': 'true', 'x-no-cache': 'true', 'x-engine': 'direct' };
    const { answer, body } = await read(`${page}/moved`, {
      ...headers,
      ...(keyed && { authorization: `Bearer ${key}` }),
    });
    const trace = body.meta?.trace;
    expectComplete(trace);
    const steps = ['key_check', 'dns', 'connect', 'first_byte', 'download', 'queue', 'parse', 'extract', 'markdown'];
    for (const name of steps) expect(namesOf(trace)).toContain(name);
    // A request on a closed connection received no response and was repeated.
    const answers = trace.spans.filter(({ name, status }) => name === 'first_byte' && status !== undefined);
    expect(answers.map(({ status }) => status)).toEqual([302, 200]);
    expect(trace.counts).toEqual({ redirects: 1, bytes: PAGE.length, tokens: expect.any(Number) });
    expect([trace.cache, trace.engine]).toEqual(['miss', 'direct']);
    const { data } = body as { data: { usage: { tokens: number } } };
    expect(trace.counts.tokens).toBe(data.usage.tokens);
    expect(answer.headers.get('server-timing')).toMatch(/first_byte;dur=[\d.]+.*total;dur=[\d.]+/);
  });

  it('names the cache as the source of a copy', async () => {
    await read(`${page}/kept`);
    const { body } = await read(`${page}/kept`, { 'x-trace': 'true' });
    const trace = body.meta?.trace;
    expectComplete(trace);
    expect(trace.cache).toBe('hit');
    expect(namesOf(trace)).not.toContain('connect');
    expect(namesOf(trace)).toContain('cache');
  });

  it('records that the cache was off', async () => {
    const { body } = await read(`${page}/kept`, { 'x-trace': '1', 'x-zero-data-retention': 'true' });
    expect(body.meta?.trace?.cache).toBe('off');
  });

  it('is enabled in the body or the query as well', async () => {
    const post = await fetch(server.reader, {
      method: 'POST',
      headers: { accept: 'application/json', 'content-type': 'application/json' },
      body: JSON.stringify({ html: PAGE, trace: true }),
    });
    expectComplete(((await post.json()) as { meta: { trace: TraceJson } }).meta.trace);
    const query = new URLSearchParams({ url: `${page}/page`, trace: 'true' });
    const get = await fetch(`${server.reader}/?${query}`, { headers: { accept: 'application/json' } });
    expectComplete(((await get.json()) as { meta: { trace: TraceJson } }).meta.trace);
  });

  it('sends the trace as the last event of a stream', async () => {
    const answer = await fetch(`${server.reader}/${page}/streamed`, {
      headers: { accept: 'text/event-stream', 'x-trace': 'true' },
    });
    const events = parseEvents(await answer.text());
    expect(events.slice(0, -1).every(({ event }) => event === 'data')).toBe(true);
    expect(events.at(-1)!.event).toBe('trace');
    expectComplete(events.at(-1)!.data as unknown as TraceJson);
  });

  it('sends the trace of a text or a failure in a header', async () => {
    const text = await fetch(`${server.reader}/${page}/text`, { headers: { 'x-trace': 'true' } });
    expect(text.headers.get('server-timing')).toMatch(/^key_check;dur=.*total;dur=/);
    expect(await text.text()).not.toContain('duration_ms');
    const failed = await fetch(`${server.reader}/${page}/gone`, { headers: { 'x-trace': 'true' } });
    expect(failed.status).toBe(422);
    expect(failed.headers.get('server-timing')).toMatch(/connect;dur=.*total;dur=/);
  });

  it("uses the id of the caller's trace", async () => {
    const id = '0af7651916cd43dd8448eb211c80319c';
    const { body } = await read(`${page}/page`, { 'x-trace': 'true', traceparent: `00-${id}-b7ad6b7169203331-01` });
    expect(body.meta?.trace?.id).toBe(id);
    const broken = await read(`${page}/page`, {
      'x-trace': 'true',
      traceparent: `00-${'0'.repeat(32)}-b7ad6b7169203331-01`,
    });
    expect(broken.body.meta?.trace?.id).not.toMatch(/^0+$/);
  });
});

describe('the search host', () => {
  it('traces the query and each page read', async () => {
    await read(`${page}/found`, { 'x-no-cache': 'true' });
    const ask = () =>
      fetch(`${server.urls.search}/search?q=followed`, {
        headers: { accept: 'application/json', authorization: `Bearer ${key}`, 'x-trace': 'true' },
      }).then((answer) => answer.json() as Promise<{ meta?: { trace?: TraceJson } }>);
    await expect.poll(async () => (await ask()).meta?.trace, { timeout: 20_000 }).toBeDefined();
    const trace = (await ask()).meta?.trace;
    expectComplete(trace);
    expect(namesOf(trace)).toContain('search');
    const pages = trace.spans.filter(({ name }) => name === 'page');
    expect(pages.length).toBe(trace.counts.pages);
    expect(pages[0]!.result).toBe(1);
  });
});

describe('the model host', () => {
  const ask = async (place: string, body: object, headers: Record<string, string> = {}) => {
    const answer = await fetch(`${server.urls.model}${place}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, ...headers },
      body: JSON.stringify(body),
    });
    return { answer, body: (await answer.json()) as { trace?: TraceJson; usage: { total_tokens: number } } };
  };
  const EMBED = { model: 'lectern-static-v2', input: ['one', 'two'] };

  it('traces the queue and the model of embeddings at the top level of the answer', async () => {
    const { answer, body } = await ask('/v1/embeddings', { ...EMBED, trace: true });
    expectComplete(body.trace);
    for (const name of ['key_check', 'load', 'tokenize', 'queue', 'model']) expect(namesOf(body.trace)).toContain(name);
    expect(body.trace.counts).toEqual({ inputs: 2, tokens: body.usage.total_tokens });
    expect(answer.headers.get('server-timing')).toContain('model;dur=');
    expect((await ask('/v1/embeddings', EMBED, { 'x-trace': 'true' })).body.trace).toBeDefined();
    expect((await ask('/v1/embeddings?trace=true', EMBED)).body.trace).toBeDefined();
    const quiet = await ask('/v1/embeddings', EMBED);
    expect(Object.keys(quiet.body)).toEqual(['model', 'object', 'usage', 'data']);
  });

  it('traces those of a reranking', async () => {
    const rank = { model: 'lectern-static-rerank-v2', query: 'one', documents: ['one', 'two'] };
    const { body } = await ask('/v1/rerank', { ...rank, trace: true });
    expectComplete(body.trace);
    expect(namesOf(body.trace)).toContain('model');
    expect((await ask('/v1/rerank', rank)).body.trace).toBeUndefined();
    // A response that is a list cannot include a trace.
    const tei = await ask('/rerank', { query: 'one', texts: ['one'] }, { 'x-trace': 'true' });
    expect(Array.isArray(tei.body)).toBe(true);
    expect(tei.answer.headers.get('server-timing')).toContain('model;dur=');
  });

  it('traces the model of a chat completion, whole and streamed', async () => {
    const chat = await startChatServer(() => 'an answer');
    const host = await startServer({ browser: 'none', chatUrl: chat.url, chatModel: 'some/talker' });
    onTestFinished(() => host.close());
    const ask = async (more: object) => {
      const answer = await fetch(`${host.urls.model}/v1/chat/completions`, {
        method: 'POST',
        headers: { authorization: `Bearer ${host.app.firstKey}` },
        body: JSON.stringify({ model: 'talker', messages: [{ role: 'user', content: 'hello' }], ...more }),
      });
      return answer.text();
    };
    const whole = JSON.parse(await ask({ trace: true })) as { trace?: TraceJson; usage: { total_tokens: number } };
    expectComplete(whole.trace);
    expect(namesOf(whole.trace)).toContain('model');
    expect(whole.trace.counts.tokens).toBe(whole.usage.total_tokens);
    expect(JSON.parse(await ask({}))).not.toHaveProperty('trace');
    const chunks = (await ask({ trace: true, stream: true }))
      .split('\n\n')
      .filter((line) => line.startsWith('data: {'));
    const last = JSON.parse(chunks.at(-1)!.slice('data: '.length)) as { choices: unknown[]; trace?: TraceJson };
    expect(last.choices).toEqual([]);
    expectComplete(last.trace);
  });
});
