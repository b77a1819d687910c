/** The REST interface of the flow over real sockets (docs/reference/wire/flow.md). */
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { Validator } from '@seriousme/openapi-schema-validator';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import WebSocket from 'ws';
import { type Call, Executor, requests } from '#flow/index.ts';
import { INTERFACE_VERSIONS } from '#generated/interface-versions.ts';
import { CERTIFICATE, KEY } from '#net/proxy.suite.ts';
import type { Log } from '#telemetry/log.ts';
import { createGate, type Served, type ServeOptions, serveFlow } from '../support/flow-gateway.ts';
import { rawRequest } from '../support/raw-http.ts';

const JSON_TYPE = { 'content-type': 'application/json' };

const send = (url: string, body: unknown, { method = 'POST', headers = JSON_TYPE as Record<string, string> } = {}) =>
  fetch(url, { method, headers, body: typeof body === 'string' ? body : JSON.stringify(body), redirect: 'manual' });

// biome-ignore lint/suspicious/noExplicitAny: tests read any field of a response
const read = async (answer: Response): Promise<any> => JSON.parse(await answer.text());

const TIME = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}\+00:00$/);
const ID = expect.stringMatching(/^[0-9a-f]{32}$/);

let served: Served;
beforeAll(async () => {
  served = await serveFlow();
});
afterAll(() => served.close());

describe('an answer', () => {
  it('has the keys that clients expect, and every field of a document', async () => {
    const answer = await send(`${served.url}/index`, { data: [{ text: 'hello' }], parameters: { mark: '?' } });
    expect(answer.status).toBe(200);
    expect(answer.headers.get('content-type')).toBe('application/json');
    const body = await read(answer);
    expect(Object.keys(body)).toEqual(['header', 'parameters', 'routes', 'data']);
    expect(body.header).toEqual({ requestId: ID, status: null, execEndpoint: '/index', targetExecutor: '' });
    expect(body.header.requestId).toBe(answer.headers.get('x-request-id'));
    expect(body.parameters).toEqual({ mark: '?' });
    expect(body.routes).toEqual([
      { executor: 'gateway', startTime: TIME, endTime: TIME, status: null },
      { executor: 'marker', startTime: TIME, endTime: TIME, status: null },
    ]);
    expect(body.data).toHaveLength(1);
    expect(body.data[0]).toMatchObject({ id: ID, text: 'hello?', blob: null, chunks: null, scores: null });
    expect(Object.keys(body.data[0])).toHaveLength(19);
  });

  it.each([
    ['POST', '/index'],
    ['POST', '/search'],
    ['PUT', '/update'],
    ['DELETE', '/delete'],
  ])('%s %s goes to the endpoint of that name', async (method, path) => {
    const body = await read(await send(served.url + path, { data: [{ text: 'a' }] }, { method }));
    expect(body.header.execEndpoint).toBe(path);
    expect(body.data[0].text).toBe(path === '/delete' ? 'a' : 'a!');
  });

  it('of /post goes to the endpoint in the body, under each name of the key', async () => {
    for (const where of [{ execEndpoint: '/foo' }, { exec_endpoint: '/foo' }, { header: { exec_endpoint: '/foo' } }]) {
      const body = await read(await send(`${served.url}/post`, { data: [{ text: 'a' }], ...where }));
      expect(body.header.execEndpoint).toBe('/foo');
      expect(body.data[0].text).toBe('a!');
    }
    const unknown = await read(await send(`${served.url}/post`, { data: [{ text: 'a' }], execEndpoint: 'foo' }));
    expect(unknown.header.status).toBeNull();
    expect(unknown.data[0].text).toBe('a');
    expect(unknown.routes[1].endTime).toBeNull();
  });

  it.each([
    ['no data', {}],
    ['null', { data: null }],
    ['an empty list', { data: [] }],
    ['an object with a list', { data: { docs: [] } }],
  ])('to %s has no documents', async (_, body) => {
    const answer = await send(`${served.url}/index`, body);
    expect(answer.status).toBe(200);
    expect((await read(answer)).data).toEqual([]);
  });

  it('accepts strings, and ids for deletions', async () => {
    const texts = await read(await send(`${served.url}/search`, { data: ['a', 'https://a.example/b'] }));
    expect(texts.data.map((one: { text: string; uri: string }) => [one.text, one.uri])).toEqual([
      ['a!', null],
      ['!', 'https://a.example/b'],
    ]);
    const ids = await read(await send(`${served.url}/delete`, { data: ['d1'] }, { method: 'DELETE' }));
    expect(ids.data[0].id).toBe('d1');
  });

  it('shows a failure of an executor as data', async () => {
    const answer = await send(`${served.url}/post`, { data: [{ text: 'kept' }], execEndpoint: '/fail' });
    expect(answer.status).toBe(200);
    const body = await read(answer);
    const status = {
      code: 1,
      description: "RangeError('boom', 42)",
      exception: { name: 'RangeError', args: ['boom', '42'], stacks: [], executor: 'Marker' },
    };
    expect(body.header.status).toEqual(status);
    expect(body.routes[1].status).toEqual(status);
    expect(body.data[0].text).toBe('kept');
  });

  it('contains the result of an executor', async () => {
    const body = await read(await send(`${served.url}/post`, { data: [{}, {}], execEndpoint: '/result' }));
    expect(body.parameters).toEqual({ __results__: { 'marker/rep-0': { count: 2 } } });
  });

  it('may be split into parts, which are joined in order', async () => {
    const data = Array.from({ length: 7 }, (_, at) => ({ id: String(at), text: 'a' }));
    const body = await read(await send(`${served.url}/index`, { data, request_size: 3 }));
    expect(body.data.map(({ id }: { id: string }) => id)).toEqual(data.map(({ id }) => id));
    expect(body.routes.map(({ executor }: { executor: string }) => executor)).toEqual(['gateway', 'marker']);
    const refused = await send(`${served.url}/index`, { data, request_size: 0 });
    expect(refused.status).toBe(422);
  });

  it('keeps arrays, and writes NaN and infinity as null', async () => {
    const data = [
      { embedding: [0.1, -2.5e-7, 3] },
      {
        tensor: [
          [1, 2],
          [3, 4],
        ],
      },
      { embedding: [true, false] },
    ];
    const body = await read(await send(`${served.url}/post`, { data }));
    expect(body.data.map((one: Record<string, unknown>) => one.embedding ?? one.tensor)).toEqual([
      [0.1, -2.5e-7, 3],
      [
        [1, 2],
        [3, 4],
      ],
      [true, false],
    ]);
  });
});

describe('a request that is not valid', () => {
  const detailOf = async (path: string, body: unknown, init = {}) => {
    const answer = await send(served.url + path, body, init);
    const { detail, ...rest } = await read(answer);
    expect(rest).toEqual({});
    return { status: answer.status, detail };
  };

  it.each([
    ['{"data": [1,}', 'Expecting value', 12],
    ['{"data": [] "a": 1}', "Expecting ',' delimiter", 12],
    ["{'data': []}", 'Expecting property name enclosed in double quotes', 1],
    ['{"data" []}', "Expecting ':' delimiter", 8],
    ['{"data": []} x', 'Extra data', 13],
    ['{"data": "a', 'Unterminated string starting at', 9],
    ['{"a": "\\x"}', 'Invalid \\escape', 7],
    ['{"a": "\u0001"}', 'Invalid control character at', 7],
    ['nope', 'Expecting value', 0],
  ])('is told where its JSON breaks: %s', async (text, message, at) => {
    const { status, detail } = await detailOf('/index', text);
    expect(status).toBe(422);
    expect(detail).toHaveLength(1);
    expect(detail[0]).toMatchObject({ loc: ['body', at], type: 'value_error.jsondecode' });
    expect(detail[0].msg).toBe(`${message}: line 1 column ${at + 1} (char ${at})`);
    expect(detail[0].ctx).toMatchObject({ msg: message, pos: at, lineno: 1, colno: at + 1 });
  });

  it.each([
    ['/index', '', [['body'], 'field required', 'value_error.missing']],
    ['/index', 'null', [['body'], 'field required', 'value_error.missing']],
    ['/index', [], [['body'], 'value is not a valid dict', 'type_error.dict']],
    ['/index', { data: [3] }, [['body', 'data', 0], 'value is not a valid dict', 'type_error.dict']],
    ['/index', { parameters: [1] }, [['body', 'parameters'], 'value is not a valid dict', 'type_error.dict']],
    ['/index', { data: { a: 1 } }, [['body', 'data', 'docs'], 'field required', 'value_error.missing']],
    [
      '/post',
      { execEndpoint: null },
      [['body', 'execEndpoint'], 'none is not an allowed value', 'type_error.none.not_allowed'],
    ],
    [
      '/index',
      { data: [{ blob: '$' }] },
      [['body', 'data', 0, 'blob'], 'value is not valid base64', 'value_error.base64'],
    ],
  ])('%s %j is told what is wrong', async (path, body, [loc, msg, type]) => {
    const { status, detail } = await detailOf(path, body);
    expect(status).toBe(422);
    expect(detail).toEqual([{ loc, msg, type }]);
  });

  it('gets an entry for each alternative', async () => {
    const { detail } = await detailOf('/index', { data: 3 });
    expect(detail.map(({ type }: { type: string }) => type)).toEqual(['type_error.list', 'type_error.dict']);
  });

  it.each([{ targetExecutor: '(' }, { data: [{ text: 'a', blob: 'aGk=' }] }, { data: [{ embedding: [[1], [1, 2]] }] }])(
    'is refused: %j',
    async (body) => {
      const { status, detail } = await detailOf('/index', body);
      expect(status).toBe(422);
      expect(detail[0]).toMatchObject({ loc: expect.arrayContaining(['body']), msg: expect.any(String) });
    },
  );

  it('has another content type; a missing or empty one counts as JSON', async () => {
    const refused = await detailOf('/index', '{}', { headers: { 'content-type': 'text/plain' } });
    expect(refused).toMatchObject({ status: 422, detail: [{ loc: ['body'], type: 'type_error.dict' }] });
    for (const lines of [['Content-Type:', 'Content-Length: 2'], ['Content-Length: 2']]) {
      const { port } = new URL(served.url);
      const socket = net.connect(Number(port), '127.0.0.1');
      socket.write(`POST /index HTTP/1.1\r\nHost: a\r\nConnection: close\r\n${lines.join('\r\n')}\r\n\r\n{}`);
      const [first] = (await once(socket, 'data')) as [Buffer];
      expect(first.toString()).toMatch(/^HTTP\/1\.1 200 /);
      socket.destroy();
    }
  });
});

describe('addresses', () => {
  it('that are unknown are 404, with another method 405', async () => {
    const unknown = await fetch(`${served.url}/nothing`);
    expect([unknown.status, await read(unknown)]).toEqual([404, { detail: 'Not Found' }]);
    const wrong = await fetch(`${served.url}/index`);
    expect([wrong.status, wrong.headers.get('allow')]).toEqual([405, 'POST']);
    expect(await read(wrong)).toEqual({ detail: 'Method Not Allowed' });
  });

  it('with a trailing slash redirect to those without, and keep the method', async () => {
    const answer = await send(`${served.url}/index/?a=1`, {});
    expect([answer.status, answer.headers.get('location')]).toEqual([307, '/index?a=1']);
    const followed = await fetch(`${served.url}/index/`, { method: 'POST', headers: JSON_TYPE, body: '{}' });
    expect(followed.status).toBe(200);
    expect((await send(`${served.url}/nothing/`, {})).status).toBe(404);
    const elsewhere = await rawRequest(served.url, { path: '//elsewhere.example/' });
    expect(elsewhere.status).toBe(404);
  });

  it('report health', async () => {
    expect(await read(await fetch(`${served.url}/`))).toEqual({});
    expect(await read(await fetch(`${served.url}/dry_run`))).toEqual({ code: 0, description: '', exception: null });
  });

  it('/status has the fixed names and nothing else', async () => {
    const { jina, envs } = await read(await fetch(`${served.url}/status`));
    expect(jina.jina).toBe('1.2.3');
    expect(Object.keys(jina)).toHaveLength(20);
    expect(Object.keys(envs)).toHaveLength(17);
    for (const value of [...Object.values(jina), ...Object.values(envs)]) expect(value).toEqual(expect.any(String));
    expect(envs.JINA_LOG_LEVEL).toBe('(unset)');
  });
});

describe('options', () => {
  const withFlow = async (options: ServeOptions, use: (served: Served) => Promise<void>) => {
    const own = await serveFlow(options);
    try {
      await use(own);
    } finally {
      await own.close();
    }
  };

  it('custom endpoints and titles appear in the description', () =>
    withFlow(
      {
        title: 'Teapots',
        description: 'All of them.',
        exposeEndpoints: {
          '/foo': { http_path: '/my/foo', methods: ['POST', 'PUT'], summary: 'Foo them' },
          '/bar': {},
        },
      },
      async ({ url }) => {
        for (const method of ['POST', 'PUT']) {
          const body = await read(await send(`${url}/my/foo`, { data: ['a'] }, { method }));
          expect([body.header.execEndpoint, body.data[0].text]).toEqual(['/foo', 'a!']);
        }
        expect((await send(`${url}/bar`, {})).status).toBe(200);
        expect((await send(`${url}/foo`, {})).status).toBe(404);
        const description = await read(await fetch(`${url}/openapi.json`));
        const { version } = INTERFACE_VERSIONS.flow;
        expect(description.info).toEqual({ title: 'Teapots', description: 'All of them.', version });
        expect(description.paths['/my/foo'].put).toMatchObject({ summary: 'Foo them', tags: ['Customized'] });
        expect(description.paths['/bar'].post).toBeDefined();
        const page = await fetch(`${url}/docs`);
        expect(page.headers.get('content-security-policy')).toContain("default-src 'none'");
        expect(await page.text()).toContain('/my/foo');
      },
    ));

  it('the description is valid, and each of its paths answers', async () => {
    const description = await read(await fetch(`${served.url}/openapi.json`));
    const validated = await new Validator().validate(description);
    expect(validated).toEqual({ valid: true });
    const paths = Object.entries<object>(description.paths);
    expect(paths.length).toBeGreaterThan(8);
    for (const [path, methods] of paths) {
      for (const method of Object.keys(methods)) {
        const body = method === 'get' ? undefined : '{"data":[],"targets":["marker"]}';
        const answer = await fetch(served.url + path.replace('{mode}', 'search'), {
          method: method.toUpperCase(),
          ...(body && { body, headers: JSON_TYPE }),
        });
        expect([path, answer.status]).toEqual([path, 200]);
        await answer.arrayBuffer();
      }
    }
  });

  it('groups of routes can be left out', async () => {
    await withFlow({ noDebugEndpoints: true }, async ({ url }) => {
      for (const path of ['/status', '/dry_run']) expect((await fetch(url + path)).status).toBe(404);
      for (const path of ['/post', '/reload']) expect((await send(url + path, {})).status).toBe(404);
      expect((await fetch(`${url}/`)).status).toBe(200);
      expect((await send(`${url}/index`, {})).status).toBe(200);
      const { paths } = await read(await fetch(`${url}/openapi.json`));
      expect(paths['/post']).toBeUndefined();
      expect(paths['/index']).toBeDefined();
    });
    await withFlow({ noCrudEndpoints: true }, async ({ url }) => {
      for (const path of ['/index', '/search', '/api/search']) expect((await send(url + path, {})).status).toBe(404);
      expect((await send(`${url}/post`, {})).status).toBe(200);
    });
  });

  it('CORS is off by default', async () => {
    const origin = 'https://page.example';
    const off = await fetch(`${served.url}/`, { headers: { origin } });
    expect(off.headers.get('access-control-allow-origin')).toBeNull();
    await withFlow({ cors: true }, async ({ url }) => {
      const simple = await fetch(`${url}/nothing`, { headers: { origin } });
      expect(simple.headers.get('access-control-allow-origin')).toBe('*');
      expect(simple.headers.get('access-control-allow-credentials')).toBe('true');
      const { status, head, body } = await rawRequest(url, {
        method: 'OPTIONS',
        path: '/index',
        lines: [`Origin: ${origin}`, 'Access-Control-Request-Method: POST', 'Access-Control-Request-Headers: x-a, x-b'],
      });
      expect([status, body]).toEqual([200, 'OK']);
      for (const line of [
        `access-control-allow-origin: ${origin}`,
        'access-control-allow-methods: DELETE, GET, HEAD, OPTIONS, PATCH, POST, PUT',
        'access-control-allow-headers: x-a, x-b',
        'access-control-max-age: 600',
        'vary: Origin',
      ]) {
        expect(head).toContain(line);
      }
    });
  });

  it('a token: without it, only health and description answer', () =>
    withFlow({ token: 'sesame-1' }, async ({ url }) => {
      const refused = await send(`${url}/index`, {});
      expect([refused.status, refused.headers.get('www-authenticate')]).toEqual([401, 'Bearer']);
      const wrong = await send(`${url}/index`, {}, { headers: { ...JSON_TYPE, authorization: 'Bearer sesame-2' } });
      expect(wrong.status).toBe(401);
      const right = await send(`${url}/index`, {}, { headers: { ...JSON_TYPE, authorization: 'Bearer sesame-1' } });
      expect(right.status).toBe(200);
      for (const path of ['/', '/live', '/docs', '/openapi.json']) expect((await fetch(url + path)).status).toBe(200);
      expect((await fetch(`${url}/status`)).status).toBe(401);
    }));

  it('failures as HTTP 500 with the same body', () =>
    withFlow({ failuresAre500: true }, async ({ url }) => {
      const answer = await send(`${url}/post`, { execEndpoint: '/fail' });
      expect(answer.status).toBe(500);
      expect((await read(answer)).header.status.exception.name).toBe('RangeError');
    }));

  it('a 500 with the cause in the log, if an answer cannot be serialized', async () => {
    class Loop extends Executor {
      static override readonly requests = requests<Loop>({ '/index': 'loop' });
      loop({ docs }: Call) {
        docs[0]!.chunks = [...docs];
      }
    }
    const failures: unknown[] = [];
    const log = { info() {}, error: (facts: unknown) => failures.push(facts) } as unknown as Log;
    const own = await serveFlow({ executors: [{ name: 'loop', uses: Loop }], log });
    const answer = await send(`${own.url}/index`, { data: [{}] });
    expect(answer.status).toBe(500);
    const err = expect.objectContaining({ message: expect.stringContaining('nested too deeply') });
    expect(failures).toEqual([{ err, reqId: answer.headers.get('x-request-id') }]);
    await own.close();
  });

  it('headers that executors may see', () =>
    withFlow({ headers: ['X-Tenant'] }, async ({ url }) => {
      const headers = { ...JSON_TYPE, 'x-tenant': 'a', 'x-other': 'b' };
      const body = await read(await send(`${url}/post`, { execEndpoint: '/headers' }, { headers }));
      expect(body.parameters.__results__['marker/rep-0']).toEqual({ 'x-tenant': 'a' });
    }));

  it('a time limit', () =>
    withFlow({ requestTimeout: 50 }, async ({ url }) => {
      const answer = await send(`${url}/post`, { execEndpoint: '/wait', parameters: { ms: 60_000 } });
      expect(answer.status).toBe(504);
      const body = await read(answer);
      expect(body.detail[0].msg).toContain('50 ms');
      expect(body.header.status).toMatchObject({ code: 1, description: expect.stringContaining('50 ms') });
      expect((await send(`${url}/index`, {})).status).toBe(200);
    }));
});

describe('TLS', () => {
  let folder: string;
  beforeAll(() => {
    folder = mkdtempSync(path.join(os.tmpdir(), 'lectern-tls-'));
    writeFileSync(path.join(folder, 'key.pem'), KEY);
    writeFileSync(path.join(folder, 'cert.pem'), CERTIFICATE);
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  it('is used if a certificate and a key are set, also for WebSocket', async () => {
    const own = await serveFlow({
      sslCertfile: path.join(folder, 'cert.pem'),
      sslKeyfile: path.join(folder, 'key.pem'),
    });
    expect(own.url).toMatch(/^https:/);
    const status = await new Promise<number | undefined>((resolve, reject) => {
      const options = { method: 'POST', headers: JSON_TYPE, rejectUnauthorized: false };
      httpsRequest(`${own.url}/index`, options, (answer) => resolve(answer.resume().statusCode))
        .on('error', reject)
        .end('{}');
    });
    expect(status).toBe(200);
    const socket = new WebSocket(`${own.url.replace('https', 'wss')}/stream`, { rejectUnauthorized: false });
    await once(socket, 'open');
    socket.send('{"data":["a"]}');
    const [frame] = (await once(socket, 'message')) as [Buffer];
    expect(JSON.parse(frame.toString()).data[0].text).toBe('a');
    socket.terminate();
    await own.close();
  });

  it('does not start with only one of the two or with a missing file', async () => {
    await expect(serveFlow({ sslKeyfile: path.join(folder, 'key.pem') })).rejects.toThrow('together');
    const sslCertfile = path.join(folder, 'none.pem');
    await expect(serveFlow({ sslCertfile, sslKeyfile: path.join(folder, 'key.pem') })).rejects.toThrow('none.pem');
  });
});

describe('an unavailable executor', () => {
  class Lost extends Executor {
    static override readonly requests = requests<Lost>({ '/index': 'slow', '/post': 'slow' });
    async slow() {
      await new Promise(() => {});
    }
  }

  it('is a 504 with the documents and a status, on every route', async () => {
    const own = await serveFlow({ executors: [{ name: 'lost', uses: Lost, timeoutSend: 30, retries: 0 }] });
    try {
      for (const [path, extra] of [
        ['/index', {}],
        ['/post', { execEndpoint: '/index' }],
      ] as const) {
        const answer = await send(own.url + path, { data: [{ id: 'd' }], ...extra });
        expect(answer.status).toBe(504);
        const body = await read(answer);
        expect(Object.keys(body)).toEqual(['header', 'parameters', 'routes', 'data']);
        expect(body).toMatchObject({
          header: { requestId: ID, execEndpoint: '', targetExecutor: '', status: { code: 1 } },
          parameters: null,
          routes: null,
          data: [{ id: 'd' }],
        });
        expect(body.header.status.description).toContain('Deadline Exceeded|Gateway: Connection with deployment lost');
        expect(body.header.status.exception).toEqual({
          name: "<class 'jina.excepts.InternalNetworkError'>",
          args: [],
          stacks: [],
          executor: '',
        });
      }
    } finally {
      await own.close();
    }
  });
});

describe('reload', () => {
  it('answers a route for each matching executor, or 404', async () => {
    const body = await read(await send(`${served.url}/reload`, { targets: 'mark' }));
    expect(body.routes.map(({ executor }: { executor: string }) => executor)).toEqual(['gateway', 'marker']);
    expect(Object.keys(body)).toEqual(['header', 'parameters', 'routes', 'data']);
    expect((await send(`${served.url}/reload`, { targets: ['other'] })).status).toBe(404);
    expect((await send(`${served.url}/reload`, {})).status).toBe(422);
    expect((await send(`${served.url}/reload`, { targets: ['('] })).status).toBe(422);
    expect((await send(`${served.url}/reload`, { targets: [3] })).status).toBe(422);
  });
});

describe('bad input', () => {
  it('rejects a body of 100 MB, announced or not, and continues', async () => {
    const huge = Buffer.alloc(100_000_000, 32);
    const announced = await fetch(`${served.url}/index`, { method: 'POST', headers: JSON_TYPE, body: huge });
    expect(announced.status).toBe(413);
    expect((await read(announced)).detail[0]).toMatchObject({ loc: ['body'] });
    const unannounced = await new Promise<number>((resolve, reject) => {
      const request = httpRequest(`${served.url}/index`, { method: 'POST', headers: JSON_TYPE }, (answer) => {
        resolve(answer.statusCode!);
        request.destroy();
      });
      request.on('error', reject);
      for (let at = 0; at < 100; at++) request.write(huge.subarray(0, 1_000_000));
      request.end();
    });
    expect(unannounced).toBe(413);
    expect((await send(`${served.url}/index`, {})).status).toBe(200);
  }, 60_000);

  it('takes 10,000 documents', async () => {
    const data = Array.from({ length: 10_000 }, (_, at) => ({ id: String(at), text: 'a' }));
    const body = await read(await send(`${served.url}/index`, { data }));
    expect(body.data).toHaveLength(10_000);
    expect(body.data[9999]).toMatchObject({ id: '9999', text: 'a!' });
  }, 60_000);

  it('rejects text that would multiply in size as values', async () => {
    const answer = await send(`${served.url}/index`, `{"data":[${'[],'.repeat(5_000_000)}[]]}`);
    expect(answer.status).toBe(422);
    expect((await read(answer)).detail[0].msg).toContain('too many');
  }, 60_000);

  it('survives endless nesting', async () => {
    for (const body of [
      `{"data":${'['.repeat(500_000)}`,
      `{"data":[{"tags":${'{"a":'.repeat(100_000)}1${'}'.repeat(100_000)}}]}`,
      `{"data":[${'{"chunks":['.repeat(50_000)}${']}'.repeat(50_000)}]}`,
      `{"data":[{"embedding":${'['.repeat(100_000)}${']'.repeat(100_000)}}]}`,
    ]) {
      expect((await send(`${served.url}/index`, body)).status).toBe(422);
    }
    expect((await send(`${served.url}/index`, {})).status).toBe(200);
  }, 60_000);

  it('answers invalid HTTP and endless headers', async () => {
    for (const [bytes, status] of [
      ['nonsense\r\n\r\n', 400],
      [`GET / HTTP/1.1\r\nHost: a\r\nX-A: ${'a'.repeat(100_000)}\r\n\r\n`, 431],
    ] as const) {
      const socket = net.connect(served.port, '127.0.0.1');
      socket.on('error', () => {});
      socket.write(bytes);
      const [answer] = (await once(socket, 'data')) as [Buffer];
      expect(answer.toString()).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
      socket.destroy();
    }
  });

  it('aborts the work of a client that has disconnected', async () => {
    let told: () => void = () => {};
    const aborted = new Promise<void>((resolve) => {
      told = resolve;
    });
    let begin: () => void = () => {};
    const started = new Promise<void>((resolve) => {
      begin = resolve;
    });
    class Watch extends Executor {
      static override readonly requests = requests<Watch>({ '/index': 'watch' });
      async watch({ signal }: { signal: AbortSignal }) {
        begin();
        await new Promise((resolve) => signal.addEventListener('abort', resolve));
        told();
      }
    }
    const own = await serveFlow({ executors: [{ uses: Watch }] });
    const leaving = new AbortController();
    const asked = fetch(`${own.url}/index`, { method: 'POST', headers: JSON_TYPE, body: '{}', signal: leaving.signal });
    started.then(() => leaving.abort());
    await expect(asked).rejects.toThrow();
    await aborted;
    await own.close();
  });

  it('serves a client that offers an upgrade to HTTP/2', async () => {
    const { status } = await rawRequest(served.url, {
      method: 'POST',
      path: '/index',
      lines: [
        'Connection: Upgrade, HTTP2-Settings',
        'Connection: Upgrade, HTTP2-Settings',
        'Upgrade: h2c',
        'HTTP2-Settings: AAEAAEAAAAIAAAAAAAMAAAAAAAQBAAAAAAUAAEAAAAYABgAA',
      ],
      body: '{"data":["a"]}',
    });
    expect(status).toBe(200);
  });

  it('rejects bodies while running ones use up the limit, and accepts them afterwards', async () => {
    const { Gate, started, release } = createGate();
    const own = await serveFlow({ executors: [{ uses: Gate }], limits: { maxHeldBytes: 1000 } });
    const waiting = send(`${own.url}/post`, { data: ['a'.repeat(600)], execEndpoint: '/gate' });
    await started;
    const refused = await send(`${own.url}/index`, { data: ['b'.repeat(600)] });
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '1']);
    expect((await read(refused)).header.status.code).toBe(1);
    release();
    await (await waiting).arrayBuffer();
    expect((await send(`${own.url}/index`, { data: ['b'.repeat(600)] })).status).toBe(200);
    await own.close();
  });

  it('disconnects a client that stops reading its answer, and serves others', async () => {
    const own = await serveFlow({ limits: { unreadMs: 300 } });
    const body = JSON.stringify({ data: ['a'.repeat(30_000_000)] });
    const socket = net.connect(own.port, '127.0.0.1');
    socket.on('error', () => {});
    const closed = new Promise((resolve) => socket.on('close', resolve));
    socket.write(`POST /index HTTP/1.1\r\nHost: a\r\nContent-Length: ${body.length}\r\n\r\n${body}`);
    await once(socket, 'readable');
    expect((await send(`${own.url}/index`, {})).status).toBe(200);
    await own.gateway.close(60_000);
    socket.resume();
    await closed;
    await own.close();
  }, 60_000);

  it('finishes running requests when it closes, and rejects new ones', async () => {
    const { Gate, started, release } = createGate();
    const own = await serveFlow({ executors: [{ uses: Gate }] });
    const slow = send(`${own.url}/post`, { data: ['a'], execEndpoint: '/gate' });
    await started;
    const closing = own.gateway.close(60_000);
    expect((await send(`${own.url}/index`, {})).status).toBe(503);
    release();
    expect((await slow).status).toBe(200);
    await closing;
    await expect(send(`${own.url}/index`, {})).rejects.toThrow();
    await own.close();
  });
});
