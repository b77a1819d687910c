/** Section 2 of the second document: the bodies of requests and responses in the newer and the older format. */
import { afterAll, beforeAll, expect } from 'vitest';
import { type Any, HTTP, openStream, post, type SeedFlow, startFlow, withFlow } from './flow-server.ts';
import { flow } from './seed.ts';

let served: SeedFlow;
/** A flow that responds in the older format. */
let older: SeedFlow;
beforeAll(async () => {
  served = await startFlow(HTTP);
  older = await startFlow(`${HTTP}, rest_api_version: '1'`);
});
afterAll(() => Promise.all([served?.close(), older?.close()]));

const CRUD = [
  ['POST', '/index'],
  ['POST', '/search'],
  ['PUT', '/update'],
  ['DELETE', '/delete'],
] as const;
const ROUTES = [...CRUD, ['POST', '/post']] as const;
/** The names of the executors that processed a document. */
const seenBy = (document: Any): string[] => (document.tags?.seen ?? '').split(' ').filter(Boolean);
/** The result that an executor returned. */
const resultOf = (body: Any, executor: string) => body.parameters.__results__?.[`${executor}/rep-0`];

flow.row(
  '2',
  'data | array of Document objects, or object | see endpoint | none | Documents to send: a list of dicts, strings or bytes convertible to documents',
  async () => {
    const blob = Buffer.from([0, 255]).toString('base64');
    for (const [method, place] of ROUTES) {
      const sent = [{ id: 'a', text: 'tea' }, { id: 'b', blob }, ...(place === '/delete' ? [] : ['green tea'])];
      for (const data of [sent, { docs: sent }]) {
        const { status, body } = await served.ask(method, place, { data });
        expect([place, status]).toEqual([place, 200]);
        const [first, second, third] = body.data;
        expect([first.id, first.text, second.id, second.blob]).toEqual(['a', 'tea', 'b', blob]);
        if (place !== '/delete') expect([third.text, third.id]).toEqual(['green tea', expect.any(String)]);
      }
      // None by default.
      for (const body of [{}, { data: null }, { data: [] }])
        expect((await served.ask(method, place, body)).body.data).toEqual([]);
      for (const data of ['tea', 7, true, [7], { text: 'tea' }]) {
        const refused = await served.ask(method, place, { data });
        expect([place, data, refused.status, refused.body.detail[0].loc.slice(0, 2)]).toEqual([
          place,
          data,
          422,
          ['body', 'data'],
        ]);
      }
    }
  },
);

flow.row(
  '2',
  'targetExecutor | string | no | none | Regex selecting the pods/deployments the request targets',
  async () => {
    for (const [targetExecutor, names] of [
      [undefined, ['first', 'second']],
      ['', ['first', 'second']],
      ['first', ['first']],
      ['sec.*', ['second']],
      ['(first|second)$', ['first', 'second']],
      ['other', []],
    ] as const) {
      const body = await post(served, { data: [{}], targetExecutor }, '/search');
      expect([targetExecutor, seenBy(body.data[0])]).toEqual([targetExecutor, names]);
    }
    for (const targetExecutor of ['(', ['first'], {}]) {
      const { status, body } = await served.ask('POST', '/search', { data: [{}], targetExecutor });
      expect([targetExecutor, status, body.detail?.[0].loc]).toEqual([targetExecutor, 422, ['body', 'targetExecutor']]);
    }
  },
);

flow.row('2', 'parameters | object | no | none | Parameters passed to the executors', async () => {
  const parameters = { limit: 3, name: 'tea', deep: { list: [1, null, true] } };
  for (const [method, place] of ROUTES.filter(([, one]) => one !== '/post')) {
    const { body } = await served.ask(method, place, { data: [{}], parameters });
    expect([place, resultOf(body, 'first').parameters]).toEqual([place, parameters]);
    const { body: without } = await served.ask(method, place, { data: [{}] });
    expect(resultOf(without, 'first').parameters).toEqual({});
  }
  const body = await post(served, { data: [{}], parameters, execEndpoint: '/foo' });
  expect(resultOf(body, 'first').parameters).toEqual(parameters);
  for (const wrong of [[1], 'limit', 7])
    expect((await served.ask('POST', '/index', { parameters: wrong })).body.detail[0].loc).toEqual([
      'body',
      'parameters',
    ]);
});

flow.row('2', 'execEndpoint | string | no (generic post only) | / | Endpoint string; by convention starts with /', () =>
  withFlow(
    HTTP,
    async (any) => {
      for (const [execEndpoint, reached] of [
        ['/foo', '/foo'],
        ['/index', '/index'],
        // The leading slash is only a convention, so it may be missing.
        ['foo', 'foo'],
        [undefined, '/'],
      ] as const) {
        const body = await post(any, { data: [{}], execEndpoint });
        expect([body.header.execEndpoint, resultOf(body, 'any').endpoint]).toEqual([reached, reached]);
      }
      for (const [method, place] of CRUD) {
        const { body } = await any.ask(method, place, { data: [{}], execEndpoint: '/foo' });
        expect([body.header.execEndpoint, resultOf(body, 'any').endpoint]).toEqual([place, place]);
      }
      for (const wrong of [null, [], {}])
        expect((await any.ask('POST', '/post', { execEndpoint: wrong })).body.detail[0].loc).toEqual([
          'body',
          'execEndpoint',
        ]);
    },
    'executors: [{ name: any, uses: Anything }]',
  ),
);

/** The documents in a response of the older format. */
const docsOf = (body: Any): Any[] => (body.index ?? body.search ?? body.update ?? body.train).docs ?? [];

flow.row(
  '2',
  'In the older interface description (version 1.1.5) the CRUD body has these fields instead:',
  async () => {
    const fields = { request_size: 2, mime_type: 'text/html', queryset: [{ name: 'SliceQL' }], data_type: 0 };
    for (const [method, place] of CRUD) {
      const isDelete = place === '/delete';
      const data = isDelete ? ['a', 'b', 'c'] : [{ id: 'a', text: 'x' }, { id: 'b' }, { id: 'c' }];
      const { status, body } = await older.ask(method, place, { data, ...fields });
      expect([place, status]).toEqual([place, 200]);
      expect(body.queryset).toEqual([{ name: 'SliceQL' }]);
      if (isDelete) expect(body.delete.ids).toEqual(data);
      else
        expect(docsOf(body).map((one) => [one.id, one.mimeType, one.tags.together])).toEqual([
          ['a', 'text/html', 2],
          ['b', 'text/html', 2],
          ['c', 'text/html', 1],
        ]);
    }
  },
);

flow.row(
  '2',
  'data | array of Document objects, or array of objects, or array of strings | yes (index, search, update); array of strings, required (delete) | none | Payload',
  async () => {
    for (const [method, place] of CRUD) {
      const missing = await older.ask(method, place, {});
      expect([place, missing.status, missing.body.detail[0].loc]).toEqual([place, 422, ['body', 'data']]);
      if (place === '/delete') continue;
      const objects = await older.ask(method, place, {
        data: [
          { id: 'a', text: 'tea' },
          { id: 'b', price: 3 },
        ],
      });
      const [first, second] = docsOf(objects.body);
      // A key that is not a field of documents becomes a tag.
      expect([first.id, first.text, second.id, second.tags.price]).toEqual(['a', 'tea', 'b', 3]);
      const strings = await older.ask(method, place, { data: ['green tea', 'black tea'] });
      expect(docsOf(strings.body).map(({ text }) => text)).toEqual(['green tea', 'black tea']);
    }
    expect((await older.ask('DELETE', '/delete', { data: ['a', 'b'] })).body.delete.ids).toEqual(['a', 'b']);
    const objects = await older.ask('DELETE', '/delete', { data: [{ id: 'a' }] });
    expect([objects.status, objects.body.detail[0].loc]).toEqual([422, ['body', 'data', 0]]);
  },
);

/** For each document, the number of documents that reached the executor in the same call. */
async function chunkSizes(count: number, more: object = {}): Promise<number[]> {
  const data = Array.from({ length: count }, (_, at) => ({ id: String(at) }));
  const { status, body } = await older.ask('POST', '/index', { data, ...more });
  expect(status).toBe(200);
  expect(docsOf(body).map(({ id }) => id)).toEqual(data.map(({ id }) => id));
  return docsOf(body).map(({ tags }) => tags.together);
}
const sizes = (...lengths: number[]) => lengths.flatMap((length) => Array<number>(length).fill(length));

flow.row('2', 'request_size | integer | no | 100 | Size of request chunks', async () => {
  expect(await chunkSizes(250)).toEqual(sizes(100, 100, 50));
  expect(await chunkSizes(100)).toEqual(sizes(100));
  expect(await chunkSizes(250, { request_size: 200 })).toEqual(sizes(200, 50));
  expect(await chunkSizes(5, { request_size: 1 })).toEqual(sizes(1, 1, 1, 1, 1));
  for (const request_size of [0, -1, 1.5, '7', [1]]) {
    const { status, body } = await older.ask('POST', '/index', { data: ['a'], request_size });
    expect([request_size, status, body.detail[0].loc]).toEqual([request_size, 422, ['body', 'request_size']]);
  }
});

flow.row('2', 'mime_type | string | no | empty string | Media type of the input', async () => {
  const typesOf = async (more: object) => {
    const { body } = await older.ask('POST', '/index', { data: [{ text: 'a' }, { mime_type: 'image/png' }], ...more });
    return docsOf(body).map(({ mimeType }) => mimeType);
  };
  expect(await typesOf({ mime_type: 'text/html' })).toEqual(['text/html', 'image/png']);
  for (const more of [{}, { mime_type: '' }]) expect(await typesOf(more)).toEqual([undefined, 'image/png']);
  for (const mime_type of [7, ['text/html'], {}]) {
    const { status, body } = await older.ask('POST', '/index', { data: ['a'], mime_type });
    expect([mime_type, status, body.detail?.[0].loc]).toEqual([mime_type, 422, ['body', 'mime_type']]);
  }
});

flow.row('2', 'queryset | array of objects | no | none | Query set', async () => {
  const queryset = [{ name: 'SliceQL', parameters: { start: 1, end: 4 }, priority: 2 }, { name: 'Other' }];
  const { body } = await older.ask('POST', '/search', { data: ['tea'], queryset });
  expect(body.queryset).toEqual(queryset);
  expect((await older.ask('POST', '/search', { data: ['tea'] })).body.queryset).toBeUndefined();
  for (const wrong of [7, 'SliceQL', {}, ['SliceQL'], [7]]) {
    const { status, body: refused } = await older.ask('POST', '/search', { data: ['tea'], queryset: wrong });
    expect([wrong, status, refused.detail?.[0].loc.slice(0, 2)]).toEqual([wrong, 422, ['body', 'queryset']]);
  }
});

flow.row('2', 'data_type | integer, enum 0, 1, 2 | no | 0 | Data input type in the request generator', async () => {
  const document = { id: 'a', text: 'tea' };
  const index = (data: unknown[], more: object) => older.ask('POST', '/index', { data, ...more });
  // 0 or missing: an object is a document, and a string is content.
  for (const more of [{}, { data_type: 0 }, { data_type: null }]) {
    const { body } = await index([document, 'green tea'], more);
    expect(docsOf(body).map(({ text }) => text)).toEqual(['tea', 'green tea']);
  }
  // 1: everything is a document. A string is its JSON.
  const { body } = await index([document, JSON.stringify({ id: 'b', text: 'coffee' })], { data_type: 1 });
  expect(docsOf(body).map(({ id, text }) => [id, text])).toEqual([
    ['a', 'tea'],
    ['b', 'coffee'],
  ]);
  // 2: everything is content.
  const json = JSON.stringify(document);
  expect(docsOf((await index([json], { data_type: 2 })).body)[0]).toMatchObject({ text: json });
  for (const [data, more, loc] of [
    [['green tea'], { data_type: 1 }, ['body', 'data', 0]],
    [[document], { data_type: 2 }, ['body', 'data', 0]],
    [['a'], { data_type: 3 }, ['body', 'data_type']],
    [['a'], { data_type: '1' }, ['body', 'data_type']],
    [['a'], { data_type: 0.5 }, ['body', 'data_type']],
  ] as const) {
    const refused = await index([...data], more);
    expect([more, refused.status, refused.body.detail?.[0].loc]).toEqual([more, 422, loc]);
  }
});

const TIME = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)$/);
const FAILURE = {
  code: 1,
  description: "RangeError('boom', 42)",
  exception: {
    name: 'RangeError',
    args: ['boom', '42'],
    stacks: expect.arrayContaining([expect.any(String)]),
    executor: 'Troubled',
  },
};

flow.row(
  '2',
  'header | object | requestId (string); status {code (number), description (string), exception {name (string), args (array), stacks (array), executor (string)}}; execEndpoint (string); targetExecutor (string); timeout (number)',
  async () => {
    const { body } = await served.ask('POST', '/post', { data: [{}], execEndpoint: '/fail', header: { timeout: 30 } });
    expect(body.header).toEqual({
      requestId: expect.stringMatching(/^[0-9a-f]{32}$/),
      status: FAILURE,
      execEndpoint: '/fail',
      targetExecutor: expect.any(String),
      timeout: 30,
    });
    // Without a failure, there is no status. Older clients reject a `timeout` that is not set.
    const { header } = await post(served, { data: [{}] });
    expect(header).toEqual({
      requestId: expect.any(String),
      status: null,
      execEndpoint: '/',
      targetExecutor: expect.any(String),
    });
    const refused = await served.ask('POST', '/post', { header: { timeout: 'long' } });
    expect([refused.status, refused.body.detail?.[0].loc]).toEqual([422, ['body', 'header', 'timeout']]);
    const socket = await openStream(served.urls.HTTP!);
    socket.send({ data: [], execEndpoint: '/index', header: { request_id: 'mine', timeout: 30 } });
    expect((await socket.next()).header).toEqual({
      request_id: 'mine',
      exec_endpoint: '/index',
      target_executor: expect.any(String),
      timeout: 30,
    });
    socket.close();
  },
);

flow.row('2', 'parameters | object | Parameters echoed back', async () => {
  const parameters = { limit: 3, deep: { list: ['a', null, true, 1.5] } };
  for (const [method, place] of ROUTES) {
    const { body } = await served.ask(method, place, { data: [{}], parameters });
    expect(body.parameters).toMatchObject(parameters);
    const { body: without } = await served.ask(method, place, { data: [{}], execEndpoint: '/nothing' });
    expect(without.parameters).toEqual(place === '/post' ? {} : { __results__: expect.any(Object) });
  }
});

flow.row(
  '2',
  'routes | array of objects | executor (string), startTime (timestamp, ISO 8601), endTime (timestamp, ISO 8601), status (same shape as header.status)',
  async () => {
    const { routes } = await post(served, { data: [{}] }, '/search');
    expect(routes).toEqual([
      { executor: 'gateway', startTime: TIME, endTime: TIME, status: null },
      { executor: 'first', startTime: TIME, endTime: TIME, status: null },
      { executor: 'second', startTime: TIME, endTime: TIME, status: null },
      // This executor serves another endpoint.
      { executor: 'third', startTime: TIME, endTime: null, status: null },
    ]);
    for (const { startTime, endTime } of routes.slice(0, 3))
      expect(Date.parse(startTime)).toBeLessThanOrEqual(Date.parse(endTime));
    const { body } = await served.ask('POST', '/post', { data: [{}], execEndpoint: '/fail' });
    expect(body.routes.at(-1)).toEqual({ executor: 'third', startTime: TIME, endTime: TIME, status: FAILURE });
  },
);

flow.row('2', 'data | array of Document | Resulting documents', async () => {
  const { data } = await post(served, { data: [{ id: 'a', text: 'tea' }, { id: 'b' }] }, '/search');
  expect(data).toHaveLength(2);
  for (const [at, document] of data.entries()) {
    expect(document).toMatchObject({ id: 'ab'[at], tags: { seen: 'first second ', together: 2 } });
    expect(Object.keys(document)).toHaveLength(19);
  }
  expect((await post(served, {}, '/search')).data).toEqual([]);
});
