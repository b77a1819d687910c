/** Sections 0, 1 and 7 of the second document: the purpose of the gateway, its options, and failures. */
import { afterAll, beforeAll, expect } from 'vitest';
import { freePorts } from '../support/free-ports.ts';
import {
  type Any,
  callGrpc,
  HTTP,
  openStream,
  post,
  type SeedFlow,
  STANDARD,
  startFlow,
  withFlow,
} from './flow-server.ts';
import { flow } from './seed.ts';

let served: SeedFlow;
beforeAll(async () => {
  served = await startFlow(HTTP);
});
afterAll(() => served?.close());

/**
 * Serves a flow on a port that is chosen in advance. Retries, because another program may have taken the port in the
 * meantime.
 */
async function withPort(gateway: (port: number) => string, test: (flow: SeedFlow, port: number) => Promise<void>) {
  for (let tries = 1; ; tries++) {
    const port = await freePorts();
    try {
      return await withFlow(gateway(port), (made) => test(made, port));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE' || tries === 5) throw error;
    }
  }
}

flow.row(
  '0',
  'This document covers the optional REST and WebSocket gateway of a data-flow framework: status, a generic data-post endpoint, CRUD endpoints (index, search, update, delete), a deprecated mode endpoint and a reload endpoint. The first document covers the hosted web-reading and model API, which is a separate interface.',
  async () => {
    const { body } = await served.ask('GET', '/openapi.json');
    const operations = Object.entries<object>(body.paths).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
    );
    expect(operations).toEqual(
      expect.arrayContaining([
        ...['GET /status', 'POST /post', 'POST /index', 'POST /search', 'PUT /update', 'DELETE /delete'],
        ...['POST /api/{mode}', 'POST /reload'],
      ]),
    );
    const stream = await openStream(served.urls.HTTP!);
    stream.close();
    // The endpoints of the first document do not exist on this host.
    for (const place of ['/v1/embeddings', '/v1/models', '/https://a.example'])
      expect((await served.ask('GET', place)).status).toBe(404);
  },
);

flow.row('0', 'Placeholders: {gateway_host} is the gateway host; <port> is the configured gateway port.', () =>
  withPort(
    (port) => `${HTTP}, port: ${port}`,
    async (made, port) => {
      expect(made.urls.HTTP).toBe(`http://127.0.0.1:${port}`);
      expect((await made.ask('GET', '/status')).status).toBe(200);
    },
  ),
);

flow.row(
  '1',
  "By default the framework's gateway speaks gRPC carrying protobuf messages. An optional REST gateway lets browsers and HTTP clients talk to the flow.",
  async () => {
    await withFlow('port: 0', async ({ urls }) => {
      expect(Object.keys(urls)).toEqual(['GRPC']);
      const answer = await callGrpc(urls.GRPC!, {
        header: { request_id: 'r1', exec_endpoint: '/index' },
        data: { docs: { docs: [{ id: 'a', text: 'tea' }] } },
      });
      expect(answer.header).toMatchObject({ request_id: 'r1', exec_endpoint: '/index' });
      const [document] = answer.data.docs.docs;
      expect(document).toMatchObject({ id: 'a', text: 'tea' });
      expect(document.tags.fields.seen.string_value).toBe('first ');
    });
    const body = await post(served, { data: [{ id: 'a', text: 'tea' }] }, '/index');
    expect(body.data[0]).toMatchObject({ id: 'a', text: 'tea', tags: { seen: 'first ' } });
    // A request from a web page of another site, which the option `cors` allows.
    await withFlow(`${HTTP}, cors: true`, async ({ urls }) => {
      const origin = 'https://page.example';
      const preflight = await fetch(`${urls.HTTP}/index`, {
        method: 'OPTIONS',
        headers: { origin, 'access-control-request-method': 'POST' },
      });
      expect([preflight.status, preflight.headers.get('access-control-allow-origin')]).toEqual([200, origin]);
    });
  },
);

flow.row(
  '1',
  'The REST gateway is enabled by configuration option `restful` set to true; its port is configured with option `port_expose`. It needs the HTTP extra of the framework installed.',
  () =>
    withPort(
      (port) => `restful: true, port_expose: ${port}`,
      async (made, port) => {
        expect(made.urls).toEqual({ HTTP: `http://127.0.0.1:${port}` });
        expect((await post(made, { data: [{}] }, '/index')).data[0].tags.seen).toBe('first ');
      },
    ),
  'Nothing more needs to be installed.',
);

flow.row(
  '1',
  'A flow is a chain of processing units (executors, grouped in pods/peas). A request carries a list of documents and is routed to executors whose registered endpoint matches (for example the endpoint /index or /search).',
  async () => {
    const data = [{ id: 'a' }, { id: 'b' }];
    for (const [place, seen] of [
      ['/index', 'first '],
      ['/search', 'first second '],
    ] as const) {
      const body = await post(served, { data }, place);
      expect(body.data.map(({ id, tags }: Any) => [id, tags.seen, tags.together])).toEqual([
        ['a', seen, 2],
        ['b', seen, 2],
      ]);
    }
    expect((await post(served, { data, execEndpoint: '/nothing' })).data[0].tags).toBeNull();
    // An older file has `pods` and `parallel`. This one also lists its executors in a different order.
    const pods = 'pods: [{ name: second, uses: Searcher, parallel: 2 }, { name: first, uses: Probe }]';
    await withFlow(
      HTTP,
      async (made) => expect((await post(made, { data }, '/search')).data[0].tags.seen).toBe('second first '),
      pods,
    );
  },
);

flow.row(
  '1',
  'The gateway also exposes a WebSocket endpoint because REST does not support bi-directional streaming, which slows batch operations.',
  async () => {
    const stream = await openStream(served.urls.HTTP!);
    // Over one connection, a later request is answered while an earlier one is still waiting.
    stream.send({ data: [], execEndpoint: '/wait', header: { request_id: 'slow' } });
    const ids = Array.from({ length: 10 }, (_, at) => String(at));
    for (const id of ids) stream.send({ data: [{ id }], execEndpoint: '/index', header: { request_id: id } });
    const answered: string[] = [];
    while (answered.length < ids.length) answered.push((await stream.next()).header.request_id);
    expect(answered.sort()).toEqual(ids);
    stream.send({ data: [], execEndpoint: '/release', header: { request_id: 'release' } });
    const last = [(await stream.next()).header.request_id, (await stream.next()).header.request_id];
    expect(last.sort()).toEqual(['release', 'slow']);
    stream.close();
  },
);

flow.row(
  '1',
  'The title and description shown in the interface description are configurable on the flow or gateway.',
  async () => {
    const infoOf = async (made: SeedFlow) => (await made.ask('GET', '/openapi.json')).body.info;
    const named = { title: 'Teapots', description: 'All of them.' };
    await withFlow(`${HTTP}, title: Teapots, description: All of them.`, async (made) => {
      expect(await infoOf(made)).toMatchObject(named);
      expect((await made.ask('GET', '/docs')).text).toContain('Teapots');
    });
    const gateway = `gateway: { title: Teapots, description: All of them. }\n${STANDARD}`;
    await withFlow(HTTP, async (made) => expect(await infoOf(made)).toMatchObject(named), gateway);
    const standard = await infoOf(served);
    expect([standard.title, standard.description]).toEqual([expect.any(String), expect.any(String)]);
    expect(standard.title).not.toBe('Teapots');
  },
);

flow.row(
  '2',
  'Status response of GET /status: object with `jina` (object), `envs` (object); the older description also has `used_memory` (string). The names of the keys inside these objects: not shown in this table.',
  async () => {
    const { body } = await served.ask('GET', '/status');
    expect(body).toEqual({ jina: expect.any(Object), envs: expect.any(Object) });
    await withFlow(`${HTTP}, rest_api_version: '1'`, async (older) => {
      const { body: old } = await older.ask('GET', '/status');
      expect(old).toEqual({
        jina: expect.any(Object),
        envs: expect.any(Object),
        used_memory: expect.stringMatching(/^\d/),
      });
    });
  },
);

const STACKS = expect.arrayContaining([expect.stringContaining('boom')]);
const EXCEPTION = { name: 'RangeError', args: ['boom', '42'], stacks: STACKS, executor: 'Troubled' };
const FAILURE = { code: 1, description: "RangeError('boom', 42)", exception: EXCEPTION };

flow.row(
  '7',
  'Failure information is carried in response header.status: code (number), description (string) and exception with name, args, stacks and executor.',
  async () => {
    const { body } = await served.ask('POST', '/post', { data: [{ id: 'a' }], execEndpoint: '/fail' });
    expect(body.header.status).toEqual(FAILURE);
    expect(body.data[0].id).toBe('a');
    const stream = await openStream(served.urls.HTTP!);
    stream.send({ data: [{ id: 'a' }], execEndpoint: '/fail' });
    expect((await stream.next()).header.status).toEqual(FAILURE);
    stream.close();
    await withFlow('port: 0', async ({ urls }) => {
      const answer = await callGrpc(urls.GRPC!, { header: { request_id: 'r', exec_endpoint: '/fail' } });
      expect(answer.header.status).toEqual(FAILURE);
    });
  },
);

flow.row('7', 'Per-route status is carried in routes[].status with the same shape.', async () => {
  const { body } = await served.ask('POST', '/post', { data: [{}], execEndpoint: '/fail' });
  const statuses = body.routes.map(({ executor, status }: Any) => [executor, status]);
  expect(statuses).toEqual([
    ['gateway', null],
    ['first', null],
    ['second', null],
    ['third', FAILURE],
  ]);
});

flow.open(
  '7',
  'HTTP status codes and error bodies of the gateway: not shown.',
  'A failed executor is 200 with `header.status`; invalid requests are 422 with `detail` ([flow](wire/flow.md#status-codes)).',
);
