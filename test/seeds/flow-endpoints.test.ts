/** Sections 3 to 6, 8 and 9 of the second document: the endpoints of the gateway and its WebSocket. */
import { afterAll, beforeAll, expect } from 'vitest';
import { runHere } from '../support/run-here.ts';
import { type Any, HTTP, openStream, post, type SeedFlow, startFlow, withFlow } from './flow-server.ts';
import { flow } from './seed.ts';

let served: SeedFlow;
beforeAll(async () => {
  served = await startFlow(HTTP);
});
afterAll(() => served?.close());

const tagsOf = (body: Any): Any => body.data[0].tags;

flow.open(
  '3',
  'Transitions: not shown.',
  'A flow is ready once every executor is, and finishes running requests when it is closed ([flow](wire/flow.md#failures)).',
);

flow.row(
  '4',
  'GET | /status | none | Status object (section 2); equivalent of the command-line version report',
  async () => {
    const { status, body } = await served.ask('GET', '/status');
    expect([status, Object.keys(body)]).toEqual([200, ['jina', 'envs']]);
    const report = await runHere(['versions']);
    expect(report.code).toBe(0);
    const printed = JSON.parse(report.out);
    expect(Object.keys(printed.jina)).toEqual(Object.keys(body.jina));
    // The versions of the product and of the test's gateway differ, and each process has its own session.
    const same = (values: Any) => ({ ...values, jina: '', 'session-id': '', uptime: '' });
    expect(same(printed.jina)).toEqual(same(body.jina));
    expect(Object.keys(printed.envs)).toEqual(Object.keys(body.envs));
    expect(printed.jina.jina).toMatch(/^\d+\.\d+\.\d+/);
  },
);

const MODES = ['INDEX', 'SEARCH', 'DELETE', 'UPDATE', 'CONTROL', 'TRAIN'] as const;

flow.row(
  '4',
  'POST | /api/{mode} | path `mode` (string, required; values INDEX, SEARCH, DELETE, UPDATE, CONTROL, TRAIN); JSON body of any shape | JSON results; deprecated, move to the CRUD endpoints',
  async () => {
    for (const mode of MODES)
      for (const name of [mode, mode.toLowerCase()]) {
        const data = mode === 'DELETE' ? ['a'] : [{ id: 'a', text: 'tea' }];
        const body =
          mode === 'CONTROL' ? { command: 'RELOAD', targets: 'first' } : { data, top_k: 3, unknown: { a: [1] } };
        const answer = await served.ask('POST', `/api/${name}`, body);
        expect([name, answer.status, answer.headers.get('content-type')]).toEqual([name, 200, 'application/json']);
        const results = answer.body[mode.toLowerCase()];
        if (mode === 'DELETE') expect(results).toEqual({ ids: ['a'] });
        else if (mode === 'CONTROL') expect(results).toMatchObject({ command: 'RELOAD', targets: ['first'] });
        else expect(results.docs[0]).toMatchObject({ id: 'a', text: 'tea', tags: { seen: /^first / } });
      }
    // Every accepted shape: the list or the text alone, and objects with arbitrary keys.
    for (const body of [[{ text: 'tea' }], ['tea'], 'tea', { data: 'tea' }]) {
      const answer = await served.ask('POST', '/api/INDEX', JSON.stringify(body));
      expect([body, answer.status, answer.body.index?.docs[0].text]).toEqual([body, 200, 'tea']);
    }
    for (const body of [{}, { a: 1 }, 7, true]) {
      const answer = await served.ask('POST', '/api/INDEX', JSON.stringify(body));
      expect([body, answer.status, answer.body]).toEqual([body, 406, { reason: '"data" field is empty' }]);
    }
    const other = await served.ask('POST', '/api/RANK', { data: ['tea'] });
    expect([other.status, other.body]).toEqual([405, { reason: 'unsupported mode RANK' }]);
    const { body: description } = await served.ask('GET', '/openapi.json');
    expect(description.paths['/api/{mode}'].post.deprecated).toBe(true);
    expect(description.paths['/api/{mode}'].post.parameters[0]).toMatchObject({
      name: 'mode',
      in: 'path',
      required: true,
    });
  },
  'Modes may be in lower case; a body that is a list or a string is its `data`.',
);

flow.row(
  '4',
  'POST | /index | data request body | Data response; executors registered for /index respond',
  async () => {
    const body = await post(served, { data: [{ id: 'a', text: 'tea' }], parameters: { a: 1 } }, '/index');
    expect(Object.keys(body)).toEqual(['header', 'parameters', 'routes', 'data']);
    expect([body.header.execEndpoint, tagsOf(body).seen]).toEqual(['/index', 'first ']);
    expect(body.data[0]).toMatchObject({ id: 'a', text: 'tea' });
  },
);

flow.row('4', 'POST | /search | data request body | Executors registered for /search respond', async () => {
  const body = await post(served, { data: [{ text: 'tea' }], parameters: { a: 1 } }, '/search');
  expect([body.header.execEndpoint, tagsOf(body).seen]).toEqual(['/search', 'first second ']);
});

flow.row('4', 'PUT | /update | data request body | Update results', async () => {
  const { status, body } = await served.ask('PUT', '/update', { data: [{ id: 'a' }], parameters: { a: 1 } });
  expect([status, body.header.execEndpoint, tagsOf(body).seen]).toEqual([200, '/update', 'first ']);
  expect((await served.ask('POST', '/update', {})).status).toBe(405);
});

flow.row(
  '4',
  'DELETE | /delete | body with data: array of strings (document identifiers) | Delete results',
  async () => {
    const { status, body } = await served.ask('DELETE', '/delete', { data: ['a', 'https://b.example'] });
    expect([status, body.header.execEndpoint]).toEqual([200, '/delete']);
    expect(body.data.map(({ id, tags }: Any) => [id, tags.seen])).toEqual([
      ['a', 'first '],
      ['https://b.example', 'first '],
    ]);
    expect((await served.ask('POST', '/delete', {})).status).toBe(405);
  },
);

flow.row('4', 'any | /stream (WebSocket) | see section 6 | see section 6', async () => {
  const stream = await openStream(served.urls.HTTP!);
  for (const [execEndpoint, seen] of [
    ['/index', 'first '],
    ['/search', 'first second '],
    ['/update', 'first '],
  ]) {
    stream.send({ data: [{ text: 'tea' }], execEndpoint });
    expect(tagsOf(await stream.next()).seen).toBe(seen);
  }
  stream.close();
  // Without an upgrade to WebSocket, this path is not an endpoint.
  expect((await served.ask('GET', '/stream')).status).toBe(404);
});

flow.open('4', 'Notes:', 'The notes below it have tests of their own.');

const DEBUG = [
  ['GET', '/status'],
  ['POST', '/post'],
] as const;
const CRUD = [
  ['POST', '/index'],
  ['POST', '/search'],
  ['PUT', '/update'],
  ['DELETE', '/delete'],
] as const;

flow.row(
  '4',
  '/status and the generic data-post endpoint are debug endpoints; /index, /search, /update, /delete are CRUD endpoints.',
  async () => {
    const statusesOf = (gateway: SeedFlow) =>
      Promise.all(
        [...DEBUG, ...CRUD].map(
          async ([method, place]) => (await gateway.ask(method, place, method === 'GET' ? undefined : {})).status,
        ),
      );
    const all = (status: number) => DEBUG.map(() => status);
    expect(await statusesOf(served)).toEqual([...all(200), 200, 200, 200, 200]);
    await withFlow(`${HTTP}, no_debug_endpoints: true`, async (gateway) =>
      expect(await statusesOf(gateway)).toEqual([...all(404), 200, 200, 200, 200]),
    );
    await withFlow(`${HTTP}, no_crud_endpoints: true`, async (gateway) =>
      expect(await statusesOf(gateway)).toEqual([...all(200), 404, 404, 404, 404]),
    );
    const { body } = await served.ask('GET', '/openapi.json');
    for (const [method, place] of DEBUG) expect(body.paths[place][method.toLowerCase()].tags).toEqual(['Debug']);
    for (const [method, place] of CRUD) expect(body.paths[place][method.toLowerCase()].tags).toEqual(['CRUD']);
  },
);

flow.row(
  '4',
  'The generic data-post endpoint sends a data request with a chosen execEndpoint (default /) to the flow, equivalent to posting to the flow from code. Its path: not shown.',
  async () => {
    const { createFlowClient, Document } = await import('lectern/flow');
    const client = createFlowClient(served.urls.HTTP!);
    for (const [execEndpoint, seen] of [
      ['/foo', 'first '],
      ['/search', 'first second '],
      [undefined, undefined],
    ] as const) {
      const body = await post(served, { data: [{ id: 'a' }], execEndpoint });
      expect([body.header.execEndpoint, tagsOf(body)?.seen]).toEqual([execEndpoint ?? '/', seen]);
      const [document] = await client.post(execEndpoint ?? '/', [new Document({ id: 'a' })]);
      expect(document!.tags.seen).toBe(seen);
    }
    client.close();
  },
  'Its path is `/post`.',
);

flow.row(
  '4',
  'A reload operation accepts a JSON body with required field `targets` (string or array of strings) and reloads the executor of the named peas/pods. Its path and response body: not shown.',
  async () => {
    const numbers = async () => {
      const { parameters } = await post(served, { data: [{}] }, '/search');
      return ['first', 'second'].map((name) => parameters.__results__[`${name}/rep-0`].number);
    };
    const before = await numbers();
    expect(await numbers()).toEqual(before);
    const [first, second] = before;
    expect((await served.ask('POST', '/reload', { targets: 'first' })).status).toBe(200);
    const [reloaded, kept] = await numbers();
    expect([reloaded > first, kept]).toEqual([true, second]);
    const both = await served.ask('POST', '/reload', { targets: ['first', 'second'] });
    expect(both.body.routes.map(({ executor }: Any) => executor)).toEqual(['gateway', 'first', 'second']);
    const [again, other] = await numbers();
    expect([again > reloaded, other > kept]).toEqual([true, true]);
    for (const body of [{}, { targets: null }, { targets: 7 }, { targets: [7] }]) {
      const refused = await served.ask('POST', '/reload', body);
      expect([body, refused.status, refused.body.detail[0].loc.slice(0, 2)]).toEqual([body, 422, ['body', 'targets']]);
    }
    expect((await served.ask('POST', '/reload', { targets: 'nobody' })).status).toBe(404);
  },
  'Its path is `/reload`, and it answers with a route for each executor.',
);

flow.open(
  '4',
  'Responses of search, update, delete and /api/{mode} in the shapes above: not shown beyond a null sample in the older description.',
  'CRUD endpoints answer with the data response of section 2; `/api/{mode}` with the request message in camelCase ([flow](wire/flow.md#generation-1)).',
);

flow.row('4', 'Requests are JSON (Content-Type application/json); responses are JSON.', async () => {
  for (const [method, place] of [...CRUD, ['POST', '/post'], ['POST', '/api/index'], ['GET', '/status']] as const) {
    const answer = await served.ask(method, place, method === 'GET' ? undefined : { data: ['a'] });
    expect([place, answer.status, answer.headers.get('content-type')]).toEqual([place, 200, 'application/json']);
    if (method === 'GET') continue;
    for (const [body, type] of [
      ['{"data": ["a"]}', 'text/plain'],
      ['data=a', 'application/x-www-form-urlencoded'],
      ['{"data": ', 'application/json'],
    ] as const) {
      const refused = await served.ask(method, place, body, { 'content-type': type });
      expect([place, type, refused.status, refused.headers.get('content-type')]).toEqual([
        ...[place, type, 422, 'application/json'],
      ]);
    }
  }
});

flow.open(
  '5',
  'Authentication: not shown.',
  'The option `token` requires `Authorization: Bearer`; without one, the default flow serves this machine only ([flows](../guide/flow.md#access)).',
);

flow.row(
  '6',
  'A WebSocket endpoint is served at http://{gateway_host}:<port>/stream; it is experimental and subject to change. Clients can stream index requests through it.',
  async () => {
    const stream = await openStream(served.urls.HTTP!);
    const ids = Array.from({ length: 20 }, (_, at) => String(at));
    for (const id of ids) {
      stream.send({ data: [{ id, text: 'tea' }], execEndpoint: '/index', header: { request_id: id } });
    }
    const answered = new Map<string, Any>();
    while (answered.size < ids.length) {
      const answer = await stream.next();
      answered.set(answer.header.request_id, answer);
    }
    for (const id of ids) {
      expect(answered.get(id).data).toMatchObject([{ id, text: 'tea', tags: { seen: 'first ' } }]);
    }
    stream.close();
  },
);

flow.open(
  '6',
  'Message format of the stream endpoint: not shown.',
  'A frame of text is the JSON body of `/post`, a binary one a `DataRequestProto`; each gets one answer ([flow](wire/flow.md#websocket)).',
);

flow.row('8', 'request_size defaults to 100 in the older description.', () =>
  withFlow(`${HTTP}, rest_api_version: '1'`, async (older) => {
    const data = Array.from({ length: 101 }, (_, at) => ({ id: String(at) }));
    const { body } = await older.ask('POST', '/index', { data });
    expect(body.index.docs.map(({ tags }: Any) => tags.together)).toEqual([...Array(100).fill(100), 1]);
    // The newer format has no such field.
    const newer = await post(served, { data }, '/index');
    expect(tagsOf(newer).together).toBe(101);
  }),
);

flow.open(
  '8',
  'Other limits: not shown.',
  'A body or a frame has a maximum size, `max_body_bytes`, and a request may have a time limit ([flow](wire/flow.md#gateway-options)).',
);

flow.open(
  '9',
  'The older interface description is titled with version 1.1.5.',
  '`rest_api_version: 1` serves that interface ([flow](wire/flow.md#generations)).',
);

flow.row('9', 'The endpoint /api/{mode} is deprecated; the CRUD endpoints replace it.', async () => {
  const { body } = await served.ask('GET', '/openapi.json');
  expect(body.paths['/api/{mode}'].post.deprecated).toBe(true);
  for (const [method, place] of CRUD) {
    expect(body.paths[place][method.toLowerCase()].deprecated).toBeUndefined();
    const data = place === '/delete' ? ['a'] : [{ id: 'a', text: 'tea' }];
    const mode = place.slice(1);
    const old = (await served.ask('POST', `/api/${mode}`, { data })).body[mode];
    const { body: answer } = await served.ask(method, place, { data });
    if (place === '/delete') expect(old.ids).toEqual(answer.data.map(({ id }: Any) => id));
    else expect([old.docs[0].text, old.docs[0].tags]).toEqual([answer.data[0].text, tagsOf(answer)]);
  }
});

flow.open(
  '9',
  'The WebSocket endpoint is experimental.',
  'It is kept like the other endpoints ([flow](wire/flow.md#websocket)).',
);
flow.open(
  '9',
  'Version of the newer interface description: not shown.',
  '`info.version` of `/openapi.json` ([flow](wire/flow.md#http-routes)).',
);
