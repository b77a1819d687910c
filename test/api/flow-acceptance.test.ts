/**
 * Requests from clients of each generation, and the fields that these clients expect in the responses
 * (docs/reference/wire/flow.md, What clients tolerate). The clients are not available here, so their requests are
 * hard-coded.
 */
import { once } from 'node:events';
import { createServer } from 'node:http';
import { type Browser, chromium } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import WebSocket from 'ws';
import {
  type Call,
  createRequest,
  Document,
  defineFlow,
  Executor,
  NdArray,
  requests,
  serveFlow as serveDefinition,
} from '#flow/index.ts';
import { decodeRequest, encodeRequest } from '#flow/proto/request.ts';
import { findBrowser } from '#reader/index.ts';
import { openWatchedPage } from '../support/browser-page.ts';
import { Marker, type Served, serveFlow } from '../support/flow-gateway.ts';

const JSON_TYPE = { 'content-type': 'application/json' };

async function call(url: string, method: string, body: unknown, headers: Record<string, string> = JSON_TYPE) {
  const answer = await fetch(url, { method, headers, body: JSON.stringify(body) });
  const text = await answer.text();
  return { status: answer.status, text, body: JSON.parse(text) };
}

/** Fields that a client of the original framework accepts in a response. Any other field makes the client fail. */
const KEYS = {
  answer: ['header', 'parameters', 'routes', 'data'],
  header: ['requestId', 'status', 'execEndpoint', 'targetExecutor'],
  route: ['executor', 'startTime', 'endTime', 'status'],
};

describe('the Python client', () => {
  let rest: Served;
  let ws: Served;
  beforeAll(async () => {
    rest = await serveFlow();
    ws = await serveFlow({ protocol: 'WEBSOCKET' });
  });
  afterAll(() => Promise.all([rest.close(), ws.close()]));

  /** The body that the client sends over HTTP for each part of a stream. */
  const part = (docs: object[], more: object = {}) => ({
    data: { docs },
    parameters: {},
    execEndpoint: '/index',
    header: { requestId: 'ignored', execEndpoint: '/index' },
    routes: [],
    targetExecutor: null,
    ...more,
  });

  it('finds the flow ready', async () => {
    const body = (await (await fetch(`${rest.url}/dry_run`)).json()) as { code: number };
    expect(body.code).toBe(0);
  });

  it('sends five documents by two and finds only the keys that it knows', async () => {
    const docs = Array.from({ length: 5 }, (_, at) => ({ id: String(at), text: 'a', mime_type: null, tags: null }));
    const found: string[] = [];
    for (let at = 0; at < docs.length; at += 2) {
      const { status, body } = await call(`${rest.url}/post`, 'POST', part(docs.slice(at, at + 2)));
      expect(status).toBe(200);
      expect(Object.keys(body)).toEqual(KEYS.answer);
      expect(Object.keys(body.header)).toEqual(KEYS.header);
      expect(body.header.requestId).not.toBe('ignored');
      for (const route of body.routes) expect(Object.keys(route)).toEqual(KEYS.route);
      found.push(...body.data.map(({ id, text }: { id: string; text: string }) => id + text));
    }
    expect(found).toEqual(['0a!', '1a!', '2a!', '3a!', '4a!']);
  });

  it('passes parameters and a target, empty input, and gets returned objects', async () => {
    const marked = await call(`${rest.url}/post`, 'POST', part([{ text: 'a' }], { parameters: { marker__mark: '+' } }));
    expect(marked.body.data[0].text).toBe('a+');
    expect(marked.body.parameters).toEqual({ marker__mark: '+' });
    const other = await call(`${rest.url}/post`, 'POST', part([{ text: 'a' }], { targetExecutor: 'nobody' }));
    expect(other.body.data[0].text).toBe('a');
    const empty = await call(`${rest.url}/post`, 'POST', { ...part([]), data: null });
    expect(empty.body.data).toEqual([]);
    const result = await call(`${rest.url}/post`, 'POST', part([{}], { execEndpoint: '/result' }));
    expect(result.body.parameters.__results__).toEqual({ 'marker/rep-0': { count: 1 } });
  });

  it('finds a failure by its integer code', async () => {
    const { status, body } = await call(`${rest.url}/post`, 'POST', part([{}], { execEndpoint: '/fail' }));
    expect([status, body.header.status.code]).toEqual([200, 1]);
  });

  it.each(['HTTP', 'WebSocket'])('gets matches with the granularity that was sent: %s', async (protocol) => {
    const matches = [{ id: 'm1' }, { id: 'm2', granularity: 3 }];
    const docs = [{ id: 'd', granularity: 1, matches }];
    // biome-ignore lint/suspicious/noExplicitAny: tests read any field of a response
    let body: any;
    if (protocol === 'HTTP') ({ body } = await call(`${rest.url}/post`, 'POST', part(docs)));
    else {
      const socket = new WebSocket(ws.url);
      await once(socket, 'open');
      socket.send(JSON.stringify({ data: docs, execEndpoint: '/index' }));
      const [text] = await once(socket, 'message');
      body = JSON.parse(String(text));
      socket.terminate();
    }
    const found = body.data[0].matches as { granularity: number | null; adjacency: number }[];
    expect(found.map(({ granularity, adjacency }) => [granularity, adjacency])).toEqual([
      [null, 1],
      [3, 1],
    ]);
  });

  it('streams over WebSocket: arrays of every type come back as they went, and the close ends it', async () => {
    const dtypes = ['<f2', '<f4', '<f8', '>f4', '|i1', '<i2', '<i4', '<i8', '|u1', '<u2', '<u4', '<u8', '>u8', '|b1'];
    const socket = new WebSocket(ws.url, ['bytes']);
    await once(socket, 'open');
    const answers = new Map<string, ReturnType<typeof decodeRequest>>();
    socket.on('message', (data: Buffer) => {
      const answer = decodeRequest(data);
      answers.set(answer.header.requestId, answer);
    });
    const closed = once(socket, 'close');
    for (const dtype of dtypes) {
      const bytes = Number(dtype.slice(-1));
      const buffer = Uint8Array.from({ length: 6 * bytes }, (_, at) => (dtype === '|b1' ? at % 2 : at + 1));
      const embedding = NdArray.fromDense({ buffer, shape: [2, 3], dtype }, { clsName: 'torch' });
      const docs = [new Document({ id: dtype, text: 'a', embedding })];
      const parameters = { __results__: {} };
      socket.send(encodeRequest(createRequest({ requestId: dtype, endpoint: '/index', docs, parameters })));
    }
    socket.send(new Uint8Array([1]));
    const [code] = await closed;
    expect(code).toBe(1000);
    expect([...answers.keys()].toSorted()).toEqual(dtypes.toSorted());
    for (const dtype of dtypes) {
      const bytes = Number(dtype.slice(-1));
      const [document] = answers.get(dtype)!.docs;
      expect(document!.text).toBe('a!');
      expect(document!.embedding).toMatchObject({ dtype, shape: [2, 3], clsName: 'torch' });
      expect([...document!.embedding!.buffer]).toEqual(
        Array.from({ length: 6 * bytes }, (_, at) => (dtype === '|b1' ? at % 2 : at + 1)),
      );
    }
  });

  it('of newer versions finds the path of an endpoint in the description, else /post', async () => {
    const own = await serveFlow({ exposeEndpoints: { '/foo': {} } });
    const { paths } = (await (await fetch(`${own.url}/openapi.json`)).json()) as {
      paths: Record<string, Record<string, unknown>>;
    };
    for (const endpoint of ['/foo', '/fail']) {
      const path = paths[endpoint]?.post ? endpoint : paths['/default']?.post ? '/default' : '/post';
      expect(path).toBe(endpoint === '/foo' ? '/foo' : '/post');
      const { body } = await call(own.url + path, 'POST', part([{ text: 'a' }], { execEndpoint: endpoint }));
      expect(body.header.execEndpoint).toBe(endpoint);
    }
    await own.close();
  });
});

describe('the clients of other languages', () => {
  let served: Served;
  beforeAll(async () => {
    served = await serveFlow();
  });
  afterAll(() => served.close());

  it('Go: arrays as dense objects and the endpoint in the header; answers hold no key of a stranger', async () => {
    const buffer = Buffer.from(new Float32Array([0.5, -2]).buffer).toString('base64');
    const { status, body } = await call(`${served.url}/post`, 'POST', {
      header: { request_id: 'x', exec_endpoint: '/search' },
      data: [
        {
          text: 'a',
          mimeType: 'text/plain',
          embedding: { dense: { buffer, shape: [2], dtype: '<f4' }, clsName: 'numpy' },
        },
      ],
    });
    expect(status).toBe(200);
    expect(body.header.execEndpoint).toBe('/search');
    expect(body.data[0]).toMatchObject({ text: 'a!', mime_type: 'text/plain', embedding: [0.5, -2] });
  });

  it.each([
    ['POST', '/index'],
    ['POST', '/search'],
    ['PUT', '/update'],
  ])('PHP: %s %s', async (method, path) => {
    const { status, body } = await call(served.url + path, method, {
      data: [{ text: 'a' }],
      parameters: {},
      targetExecutor: '',
    });
    expect([status, body.data[0].text]).toEqual([200, 'a!']);
  });

  it('JavaScript: an empty type, a sign of life at jina.jina, and the oldest search', async () => {
    const status = (await (await fetch(`${served.url}/status`)).json()) as { jina: { jina: string } };
    expect(status.jina.jina).toMatch(/./);
    const { body } = await call(`${served.url}/search`, 'POST', { data: ['a'] }, { 'content-type': '' });
    expect(body.data[0].text).toBe('a!');
    const old = await call(`${served.url}/api/search`, 'POST', { top_k: 10, mode: 'search', data: ['text'] });
    expect(old.status).toBe(200);
    expect(old.body).toMatchObject({
      requestId: expect.stringMatching(/^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/),
      search: { docs: [{ text: 'text!', mimeType: 'text/plain', weight: 1 }] },
      status: {},
      queryset: [
        { name: 'SliceQL', parameters: { end: 10 }, priority: 1 },
        { name: 'VectorSearchDriver', parameters: { top_k: 10 }, priority: 1 },
      ],
    });
    expect(old.text).not.toContain('\n');
  });
});

/** Gives each document a match, a score and an array. */
class Finder extends Executor {
  static override readonly requests = requests<Finder>({ '/search': 'find' });
  find({ docs }: Call) {
    for (const doc of docs) {
      const match = new Document({ id: 'm1', text: 'found', scores: { cosine: { value: 0.5, opName: 'Cosine' } } });
      doc.embedding = new Float32Array([1, 2]);
      doc.matches = [match];
    }
  }
}

describe('version 1', () => {
  let served: Served;
  beforeAll(async () => {
    served = await serveFlow({ restApiVersion: '1', executors: [{ uses: Finder }] });
  });
  afterAll(() => served.close());

  it('answers the message itself in camel case, indented by two, without empty fields', async () => {
    const { status, text, body } = await call(`${served.url}/search`, 'POST', {
      data: [{ id: 'q', text: 'a' }],
      top_k: 3,
    });
    expect(status).toBe(200);
    expect(Object.keys(body)).toEqual(['requestId', 'search', 'status', 'queryset', 'routes']);
    expect(text).toContain('\n  "search": {');
    const [document] = body.search.docs;
    expect(document).toMatchObject({
      id: 'q',
      text: 'a',
      weight: 1,
      embedding: { dense: { buffer: 'AACAPwAAAEA=', shape: [2], dtype: '<f4' } },
      matches: [{ id: 'm1', adjacency: 1, text: 'found', score: { value: 0.5, opName: 'Cosine' } }],
      contentHash: expect.any(String),
    });
    expect(Object.keys(document)).not.toContain('uri');
    // Documents that were sent as objects have tags; those that executors made have none.
    expect(document.tags).toEqual({});
    expect(document.matches[0].tags).toBeUndefined();
    expect(body.routes.at(0).pod).toBe('gateway');
    expect(body.routes.at(-1).pod).toBe('gateway');
  });

  it('writes no empty tags for strings, and passes every pod, also those that do nothing', async () => {
    const own = await serveFlow({
      restApiVersion: '1',
      executors: [
        { name: 'pass', uses: '_pass' },
        { name: 'finder', uses: Finder },
        { name: 'merge', uses: '_merge' },
      ],
    });
    const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/);
    const route = (pod: string) => ({ pod, podId: pod, startTime: time, endTime: time });
    const { body } = await call(`${own.url}/search`, 'POST', { data: ['a', { text: 'b', color: 'red' }] });
    expect(body.search.docs.map(({ tags }: { tags?: object }) => tags)).toEqual([undefined, { color: 'red' }]);
    expect(body.routes).toEqual(['gateway', 'pass', 'finder', 'merge', 'gateway'].map(route));
    await own.close();
  });

  it('deletes by ids, and by nothing else', async () => {
    const { body } = await call(`${served.url}/delete`, 'DELETE', { data: ['a', 'b'] });
    expect(body.delete).toEqual({ ids: ['a', 'b'] });
    const refused = await call(`${served.url}/delete`, 'DELETE', { data: [{ id: 'a' }] });
    expect(refused.status).toBe(422);
    expect(refused.body.detail).toEqual([
      { loc: ['body', 'data', 0], msg: 'str type expected', type: 'type_error.str' },
    ]);
  });

  it('answers parts as one, and an empty list by an empty object', async () => {
    const { body } = await call(`${served.url}/index`, 'POST', {
      data: ['a', 'b', 'c'],
      request_size: 2,
      mime_type: 'x/y',
    });
    expect(body.index.docs.map(({ text, mimeType }: { text: string; mimeType: string }) => [text, mimeType])).toEqual([
      ['a', 'x/y'],
      ['b', 'x/y'],
      ['c', 'x/y'],
    ]);
    expect((await call(`${served.url}/index`, 'POST', { data: [] })).body.index).toEqual({});
    expect((await call(`${served.url}/index`, 'POST', {})).status).toBe(422);
  });

  it('takes two contents for a mistake, instead of an empty answer', async () => {
    const { status, body } = await call(`${served.url}/index`, 'POST', { data: [{ text: 'a', buffer: 'aGk=' }] });
    expect(status).toBe(422);
    expect(body.detail[0].msg).toBe('only one field among [text, buffer] can be set for key content!');
  });

  it('reloads what a text or a list names', async () => {
    const { status, body } = await call(`${served.url}/reload`, 'POST', { targets: 'executor' });
    expect(status).toBe(200);
    expect(body.control).toEqual({ command: 'RELOAD', propagate: true, targets: ['executor'] });
    expect((await call(`${served.url}/reload`, 'POST', {})).status).toBe(422);
  });

  it('accepts the modes of /api, and rejects others', async () => {
    const train = await call(`${served.url}/api/TRAIN`, 'POST', { data: ['a'] });
    expect(train.body.train.docs).toHaveLength(1);
    const status = await call(`${served.url}/api/control`, 'POST', { command: 'STATUS' });
    expect(status.body).toMatchObject({ control: { command: 'STATUS' }, status: { code: 'READY' } });
    expect(await call(`${served.url}/api/foo`, 'POST', { data: [] })).toMatchObject({
      status: 405,
      body: { reason: 'unsupported mode foo' },
    });
    expect(await call(`${served.url}/api/index`, 'POST', {})).toMatchObject({
      status: 406,
      body: { reason: '"data" field is empty' },
    });
  });

  it('has nothing at /, used memory in its status, and any origin allowed', async () => {
    expect((await fetch(`${served.url}/`)).status).toBe(404);
    const status = await fetch(`${served.url}/status`, { headers: { origin: 'https://a.example' } });
    expect(status.headers.get('access-control-allow-origin')).toBe('*');
    expect(await status.json()).toMatchObject({
      used_memory: expect.stringMatching(/^\d+\.\d [KMG]B$/),
      jina: { jina: '1.2.3', 'jina-resources': '(unset)' },
      envs: { JINA_POD_NAME: '(unset)' },
    });
  });
});

describe('version 2', () => {
  let served: Served;
  beforeAll(async () => {
    served = await serveFlow({ restApiVersion: '2', executors: [{ name: 'finder', uses: Finder }] });
  });
  afterAll(() => served.close());

  it('answers only the documents in camel case, with empty fields', async () => {
    const { body } = await call(`${served.url}/search`, 'POST', { data: [{ text: 'a' }], targetPeapod: 'finder' });
    expect(Object.keys(body)).toEqual(['requestId', 'data']);
    expect(body.data.groundtruths).toEqual([]);
    expect(body.data.docs[0]).toMatchObject({ text: 'a', mimeType: '', granularity: 0, chunks: [], evaluations: {} });
    expect(body.data.docs[0].matches[0].scores.cosine.value).toBe(0.5);
  });

  it('answers the whole message to /post, which must name its endpoint', async () => {
    const { body } = await call(`${served.url}/post`, 'POST', {
      data: ['a'],
      execEndpoint: '/search',
      parameters: { a: 1 },
    });
    expect(Object.keys(body)).toEqual(['requestId', 'data', 'header', 'parameters', 'routes', 'status']);
    expect(body).toMatchObject({
      header: { execEndpoint: '/search', targetPeapod: '', noPropagate: false },
      parameters: { a: 1 },
      status: { code: 0, description: '', exception: null },
    });
    expect(body.routes.map(({ pod }: { pod: string }) => pod)).toEqual(['gateway', 'finder']);
    const refused = await call(`${served.url}/post`, 'POST', { data: ['a'] });
    expect([refused.status, refused.body.detail[0].loc]).toEqual([422, ['body', 'execEndpoint']]);
  });

  it('has its status at / too', async () => {
    expect(await (await fetch(`${served.url}/`)).json()).toMatchObject({
      jina: { jina: '1.2.3' },
      usedMemory: expect.any(String),
    });
  });
});

describe("a browser's WebSocket", () => {
  let browser: Browser;
  let served: Served;
  let page: { url: string; close(): void };
  beforeAll(async () => {
    const found = findBrowser({
      configured: process.env.LECTERN_BROWSER,
      dataDir: process.env.LECTERN_DATA_DIR ?? '.lectern',
    });
    if (!found) throw new Error('these tests need a browser: run node scripts/browser.mjs');
    browser = await chromium.launch({
      executablePath: found.path,
      args: ['--no-sandbox'],
      env: { ...(process.env as Record<string, string>), ...found.env },
    });
    served = await serveFlow();
    const server = createServer((_, response) =>
      response.setHeader('content-type', 'text/html').end('<title>page</title>'),
    );
    await once(server.listen(0, '127.0.0.1'), 'listening');
    page = {
      url: `http://127.0.0.1:${(server.address() as { port: number }).port}/`,
      close: () => server.close().closeAllConnections(),
    };
  }, 60_000);
  afterAll(async () => {
    await browser?.close();
    page?.close();
    await served?.close();
  });

  it.each([undefined, 'json'])(
    'sends and ends, with the sub-protocol %s',
    async (protocol) => {
      const tab = await browser.newPage();
      await tab.goto(page.url);
      const told = await tab.evaluate(
        `new Promise((resolve, reject) => {
        const socket = new WebSocket(...${JSON.stringify([`${served.url.replace('http', 'ws')}/stream`, protocol].filter(Boolean))});
        const texts = [];
        socket.onerror = () => reject(new Error('no connection'));
        socket.onopen = () => {
          for (const text of ['a', 'b', 'c']) socket.send(JSON.stringify({ data: [{ text }], exec_endpoint: '/index' }));
          socket.send('{}');
        };
        socket.onmessage = ({ data }) => texts.push(JSON.parse(data).data[0].text);
        socket.onclose = ({ code }) => resolve({ code, texts, protocol: socket.protocol });
      })`,
      );
      expect(told).toEqual({ code: 1000, texts: ['a!', 'b!', 'c!'], protocol: protocol ?? '' });
      await tab.close();
    },
    60_000,
  );

  it('sends requests from the page of the description, and shows the answers', async () => {
    const definition = defineFlow({ protocol: 'HTTP', host: '127.0.0.1', token: 'sesame', title: 'Teapots <b>' })
      .add({ name: 'marker', uses: Marker })
      .definition();
    const server = await serveDefinition({ definition, version: '1.2.3' });
    const { url } = server.places[0]!;
    const { page: tab, complaints, requests: requested } = await openWatchedPage(browser);
    await tab.goto(`${url}/docs`);
    expect(await tab.textContent('h1')).toBe('Teapots <b>');
    const form = tab.locator('form[data-path="/index"]');
    await tab.click('summary:has-text("POST /index")');
    await form.locator('button').click();
    await form.locator('.status', { hasText: 'HTTP 401' }).waitFor();
    await tab.fill('#token', 'sesame');
    await form.locator('textarea').fill('{"data": [{"text": "it\'s tea"}]}');
    await form.locator('button').click();
    await form.locator('.status', { hasText: 'HTTP 200' }).waitFor();
    const answer = JSON.parse((await form.locator('.answer').textContent())!);
    expect(answer).toMatchObject({ header: { execEndpoint: '/index' }, data: [{ text: "it's tea!" }] });
    expect(await form.locator('.command').textContent()).toBe(
      `curl -X POST '${url}/index' -H 'Content-Type: application/json' -d '{"data": [{"text": "it'\\''s tea"}]}'`,
    );
    await tab.click('summary:has-text("POST /api/{mode}")');
    const mode = tab.locator('form[data-path="/api/{mode}"]');
    await mode.locator('input').fill('index');
    await mode.locator('button').click();
    await mode.locator('.answer', { hasText: '"contentHash"' }).waitFor();
    await tab.click('summary:has-text("GET /dry_run")');
    await tab.locator('form[data-path="/dry_run"] button').click();
    await tab.locator('form[data-path="/dry_run"] .answer', { hasText: '"code": 0' }).waitFor();
    expect(complaints).toEqual([]);
    expect(requested.filter((one) => !one.startsWith(url))).toEqual([]);
    await tab.context().close();
    await server.close();
  }, 90_000);
});
