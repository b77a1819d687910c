/** The built-in flow and the example flow, used as a caller uses them: documents in, passages out. */
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { networkInterfaces } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { Client, credentials } from '@grpc/grpc-js';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { WebSocket } from 'ws';
import {
  type AddOptions,
  createFlow,
  createFlowClient,
  createRequest,
  Document,
  defineFlow,
  type Flow,
  type FlowServer,
  type JsonObject,
  loadFlow,
  serveFlow,
} from '#flow/index.ts';
import { documentJson } from '../../src/flow/json/index.ts';
import { createPeers, type Plain } from '../../src/flow/proto/protocol.suite.ts';
import { drawnPage } from '../../src/ocr/drawn-pages.suite.ts';
import { type Site, startSite } from '../site/site.ts';
import { startServer, type TestServer } from '../support/server.ts';

const PEER = createPeers().today;
// Enough for a busy machine.
vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });

const EXAMPLE = path.resolve(import.meta.dirname, '../../examples/retrieval-flow');

const WATER = `<html lang="en"><head><title>Water in Lisbon</title></head><body><main><h1>Water in Lisbon</h1>
<p>The tap water of Lisbon is safe to drink: the water company measures it every day at forty places in the city.</p>
<h2>Prices</h2><p>A cubic metre costs about two euros for a household, and more for a hotel or a restaurant.</p>
</main></body></html>`;
const BREAD = `<html lang="en"><head><title>Bread in Porto</title></head><body><main><h1>Bread in Porto</h1>
<p>The bakers of Porto begin at three in the morning; their rye bread keeps for a week in a linen bag.</p>
</main></body></html>`;

interface Match {
  text: string;
  uri: string;
  parent_id: string;
  location: number[];
  tags: { title?: string };
  scores: { relevance: { value: number } };
}

/**
 * Sends documents to an endpoint and returns the documents of the response, with the field names of the wire format.
 */
type Send = (endpoint: string, docs: Plain[], parameters?: Plain) => Promise<Plain[]>;

const overRest =
  (url: string): Send =>
  async (endpoint, docs, parameters = {}) => {
    const method = endpoint === '/delete' ? 'DELETE' : 'POST';
    const answer = await fetch(url + endpoint, {
      method,
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ data: docs, parameters }),
    });
    expect(answer.status).toBe(200);
    const body = (await answer.json()) as { header: Plain; data: Plain[] };
    expect(body.header.status).toBeNull();
    return body.data;
  };

async function oneFrame(url: string, protocol: 'json' | 'bytes', frame: string | Uint8Array): Promise<Buffer> {
  const socket = new WebSocket(url, protocol);
  await once(socket, 'open');
  socket.send(frame);
  const [answer] = await once(socket, 'message');
  socket.close();
  return answer as Buffer;
}

const overJsonSocket =
  (url: string): Send =>
  async (execEndpoint, data, parameters = {}) => {
    const answer = await oneFrame(url, 'json', JSON.stringify({ execEndpoint, data, parameters }));
    const body = JSON.parse(answer.toString()) as { header: Plain; data: Plain[] };
    expect(body.header.status).toBeUndefined();
    return body.data;
  };

/** The request, encoded by a different codec than ours. */
const requestBytes = (endpoint: string, docs: Plain[], parameters: Plain): Uint8Array =>
  PEER.encode('DataRequestProto', {
    header: { request_id: 'r1', exec_endpoint: endpoint },
    parameters: {
      fields: Object.fromEntries(Object.entries(parameters).map(([key, value]) => [key, { number_value: value }])),
    },
    data: { docs: { docs } },
  });

interface Answer {
  header: { request_id: string; status?: Plain };
  data: { docs: { docs: Plain[] } };
}

function docsIn(bytes: Uint8Array): Plain[] {
  const { header, data } = PEER.decode('DataRequestProto', bytes) as unknown as Answer;
  expect(header.request_id).toBe('r1');
  expect(header.status).toBeUndefined();
  return data.docs.docs;
}

const overBytesSocket =
  (url: string): Send =>
  async (endpoint, docs, parameters = {}) =>
    docsIn(await oneFrame(url, 'bytes', requestBytes(endpoint, docs, parameters)));

const overGrpc =
  (url: string): Send =>
  async (endpoint, docs, parameters = {}) => {
    const client = new Client(url.replace('grpc://', ''), credentials.createInsecure());
    const same = (bytes: Buffer) => bytes;
    try {
      const call = client.makeBidiStreamRequest('/jina.JinaRPC/Call', same, same);
      call.write(Buffer.from(requestBytes(endpoint, docs, parameters)));
      call.end();
      const answers = (await call.toArray()) as Buffer[];
      expect(answers).toHaveLength(1);
      return docsIn(answers[0]!);
    } finally {
      client.close();
    }
  };

/** Our own client, with its documents converted to the wire format. */
const overOurs =
  (url: string): Send =>
  async (endpoint, docs, parameters = {}) => {
    const client = createFlowClient(url);
    try {
      const given = docs.map((doc) => new Document(doc));
      const answered = await client.post(endpoint, given, { parameters: parameters as JsonObject });
      return answered.map((doc) => JSON.parse(documentJson(doc)) as Plain);
    } finally {
      client.close();
    }
  };

let site: Site;
let server: TestServer;
let example: FlowServer;
const urls: Record<string, string> = {};

beforeAll(async () => {
  site = await startSite({ '/water': WATER, '/bread': BREAD });
  server = await startServer({ allowNetworks: site.allow, browser: 'none' });
  const definition = loadFlow(path.join(EXAMPLE, 'flow.yml'), {
    with: { host: '127.0.0.1', port: [0, 0, 0], monitoring: true },
  });
  example = await serveFlow({ definition, executors: server.app.flow.executors, version: '1.2.3' });
  for (const { protocol, url } of example.places) urls[protocol] = url;
});
afterAll(async () => {
  await example?.close(1000);
  await server?.close();
  await site?.close();
});

describe.each<[string, () => Send]>([
  ['REST', () => overRest(urls.HTTP!)],
  ['a WebSocket in JSON', () => overJsonSocket(urls.WEBSOCKET!)],
  ['a WebSocket in bytes', () => overBytesSocket(urls.WEBSOCKET!)],
  ['gRPC', () => overGrpc(urls.GRPC!)],
  ['our client and REST', () => overOurs(urls.HTTP!)],
  ['our client and a WebSocket', () => overOurs(urls.WEBSOCKET!)],
  ['our client and gRPC', () => overOurs(urls.GRPC!)],
  ['REST, the flow that is served when no other is configured', () => overRest(server.urls.flow!)],
  ['a WebSocket there', () => overJsonSocket(`${server.urls.flow!.replace('http', 'ws')}/stream`)],
  ['gRPC there', () => overGrpc(server.urls.grpc!)],
])('the example over %s', (_, sender) => {
  it('indexes URLs and texts, answers questions with passages, and deletes documents', async () => {
    const send = sender();
    const indexed = await send('/index', [
      { id: 'water', uri: `${site.origin}/water` },
      { id: 'bread', uri: `${site.origin}/bread` },
      { id: 'note', text: 'The meeting about the archive is on Tuesday at noon.' },
    ]);
    expect(indexed.map(({ id }) => id)).toEqual(['water', 'bread', 'note']);
    const texts = new Map(indexed.map(({ id, text }) => [id, String(text)]));
    expect(texts.get('water')).toContain('safe to drink');

    const ask = async (text: string): Promise<Match[]> => {
      const [question] = await send('/search', [{ text }], { limit: 2 });
      return (question!.matches ?? []) as Match[];
    };
    const [water] = await ask('May I drink the water from the tap?');
    expect(water).toMatchObject({ parent_id: 'water', uri: `${site.origin}/water` });
    expect(water!.text).toContain('safe to drink');
    expect(water!.scores.relevance.value).toBeGreaterThan(0);
    expect(texts.get('water')!.slice(...(water!.location as [number, number]))).toBe(water!.text);
    expect((await ask('rye bread in a linen bag'))[0]).toMatchObject({ parent_id: 'bread' });
    const [note] = await ask('when is the archive meeting');
    expect(note).toMatchObject({ parent_id: 'note', location: [0, 52] });
    expect(note!.uri || '').toBe('');

    await send('/delete', [{ id: 'water' }, { id: 'bread' }, { id: 'note' }]);
    expect(await ask('May I drink the water from the tap?')).toEqual([]);
  });
});

it('works with its script', async () => {
  const send = overRest(urls.HTTP!);
  await send('/index', [{ id: 'water', uri: `${site.origin}/water` }]);
  const script = path.join(EXAMPLE, 'ask.mjs');
  const { stdout } = await promisify(execFile)(process.execPath, [script, urls.WEBSOCKET!, 'is the tap water safe']);
  expect(stdout).toContain('safe to drink');
  await send('/delete', [{ id: 'water' }]);
});

it('exports metrics', async () => {
  const answer = await fetch(`http://127.0.0.1:${example.monitoringPorts[0]}/`);
  const text = await answer.text();
  const numberOf = (series: string) =>
    Number(
      text
        .split('\n')
        .find((line) => line.startsWith(`${series} `))
        ?.split(' ')[1],
    );
  expect(numberOf('jina_failed_requests_total{runtime_name="gateway/rep-0"}')).toBe(0);
  const count = numberOf('jina_successful_requests_total{runtime_name="gateway/rep-0"}');
  expect(count).toBeGreaterThanOrEqual(7 * 6);
  expect(numberOf('jina_received_request_bytes_count{runtime_name="gateway/rep-0"}')).toBe(count);
  expect(
    numberOf('jina_document_processed_total{executor="Index",runtime_name="index/rep-0",executor_endpoint="/index"}'),
  ).toBeGreaterThanOrEqual(7 * 3);
});

describe('built-in executors with the modules of a server', () => {
  const open: Flow[] = [];
  afterAll(async () => {
    await Promise.all(open.map((flow) => flow.close(1000)));
  });

  async function flowOf(...uses: AddOptions[]): Promise<Flow> {
    const builder = defineFlow();
    for (const one of uses) builder.add(one);
    const flow = createFlow(builder.definition(), { executors: server.app.flow.executors });
    open.push(flow);
    await flow.start();
    return flow;
  }

  it('Read, Chunk and Embed make passages with vectors; questions lie near their answers', async () => {
    const flow = await flowOf({ uses: 'Read' }, { uses: 'Chunk' }, { uses: 'Embed', usesWith: { dimensions: 256 } });
    const { docs, header } = await flow.handle(
      createRequest({
        endpoint: '/index',
        docs: ['water', 'bread'].map((id) => new Document({ id, uri: `${site.origin}/${id}` })),
      }),
    );
    expect(header.status).toBeUndefined();
    const passages = docs.flatMap(({ chunks }) => chunks);
    expect(passages.map(({ parentId }) => parentId)).toEqual(['water', 'bread']);
    expect(docs[0]!.text.slice(...(passages[0]!.location as [number, number]))).toBe(passages[0]!.text);
    const asked = await flow.handle(
      createRequest({ endpoint: '/search', docs: [new Document({ text: 'Is tap water safe to drink?' })] }),
    );
    const question = asked.docs[0]!.embedding!.toFloat32();
    expect(question).toHaveLength(256);
    const nearness = passages.map(({ embedding }) =>
      embedding!.toFloat32().reduce((sum, value, at) => sum + value * question[at]!, 0),
    );
    expect(nearness[0]).toBeGreaterThan(nearness[1]!);
    expect(nearness[0]).toBeLessThanOrEqual(1.000_001);
  });

  it('Rerank orders matches', async () => {
    const flow = await flowOf({ uses: 'Rerank' });
    const matches = ['Bread is baked at night.', 'Tap water is safe to drink.'].map((text) => new Document({ text }));
    const question = new Document({ text: 'May I drink tap water?', matches });
    const { docs } = await flow.handle(createRequest({ endpoint: '/search', docs: [question] }));
    expect(docs[0]!.matches.map(({ text }) => text[0])).toEqual(['T', 'B']);
    const [first, second] = docs[0]!.matches.map(({ scores }) => scores.relevance!.value);
    expect(first).toBeGreaterThan(second!);
  });

  it('Ocr reads a picture', async () => {
    const flow = await flowOf({ uses: 'Ocr' });
    const blob = drawnPage({ width: 900, height: 200 }, (context) => {
      context.font = '48px PageRegular';
      context.fillText('Tap water is safe to drink', 60, 110);
    });
    const picture = new Document({ blob, mimeType: 'image/png' });
    const { docs } = await flow.handle(createRequest({ endpoint: '/index', docs: [picture] }));
    expect(docs[0]!.text).toContain('water');
    expect(docs[0]!.tags.confidence).toBeGreaterThan(0.5);
  });

  it('report an unknown model', async () => {
    const flow = await flowOf({ uses: 'Embed', usesWith: { model: 'nothing-like-it' } });
    const { header } = await flow.handle(createRequest({ endpoint: '/index', docs: [new Document({ text: 'x' })] }));
    expect(header.status?.exception).toMatchObject({ name: 'ModelNotFoundError', executor: 'Embed' });
  });

  it('read files, whatever type the caller declares', async () => {
    const flow = await flowOf({ uses: 'Read' });
    const blob = Buffer.from('<html><title>Hidden</title><main><h1>Under a wrong name</h1><p>Text of it.</p></main>');
    const page = new Document({ blob, mimeType: 'text/html' });
    const { docs } = await flow.handle(createRequest({ endpoint: '/index', docs: [page] }));
    expect(docs[0]!.text).toContain('Text of it.');
    expect(docs[0]!.blob).toBeUndefined();
  });
});

describe('the flow that is served', () => {
  const index = (url: string, headers: Record<string, string> = {}) =>
    fetch(`${url}/index`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify({ data: [] }),
    });

  it('is closed to web pages of other sites, also over WebSocket', async () => {
    const url = server.urls.flow!;
    expect((await index(url)).status).toBe(200);
    expect((await index(url, { origin: url })).status).toBe(200);
    const refused = await index(url, { origin: 'https://evil.example' });
    expect(refused.status).toBe(403);
    expect(await refused.json()).toEqual({ detail: expect.stringContaining('Web pages of other sites') });
    const socket = new WebSocket(`${url.replace('http', 'ws')}/stream`, { origin: 'https://evil.example' });
    const [error] = await once(socket, 'error');
    expect(String(error)).toContain('403');
  });

  it('reads no URL that the reader would reject', async () => {
    const refused = await overRestStatus(server.urls.flow!, [{ uri: 'http://169.254.169.254/latest' }]);
    expect(refused).toMatchObject({
      code: 1,
      exception: { name: 'SecurityCompromiseError', executor: 'Read', stacks: [] },
    });
    const own = await overRestStatus(server.urls.flow!, [{ uri: server.reader }]);
    expect(own).toMatchObject({ code: 1, exception: { name: 'SecurityCompromiseError' } });
  });

  it('requires its token, and is loaded from the configured file', async () => {
    const token = 'a-token-of-the-tests';
    const guarded = await startServer({ browser: 'none', flowToken: token, flow: path.join(EXAMPLE, 'flow.yml') });
    try {
      const url = guarded.urls.flow!;
      expect((await fetch(url)).status).toBe(200);
      expect((await index(url)).status).toBe(401);
      const authorization = `Bearer ${token}`;
      // A caller with the token may send requests from any site.
      expect((await index(url, { authorization, origin: 'https://evil.example' })).status).toBe(200);
      const description = await fetch(`${url}/openapi.json`, { headers: { authorization } });
      expect(await description.json()).toMatchObject({ info: { title: 'Questions answered from documents' } });
    } finally {
      await guarded.close();
    }
  });

  it('serves other machines only with a token', async () => {
    const open = await startServer({ browser: 'none', host: '0.0.0.0' });
    try {
      const url = open.urls.flow!.replace('0.0.0.0', '127.0.0.1');
      expect((await index(url)).status).toBe(200);
      const refused = await index(url, { 'x-forwarded-for': '203.0.113.7' });
      expect(refused.status).toBe(403);
      expect(await refused.json()).toEqual({ detail: expect.stringContaining('LECTERN_FLOW_TOKEN') });
      const [place] = Object.values(networkInterfaces())
        .flat()
        .filter((one) => one?.family === 'IPv4' && !one.internal);
      if (place) expect((await index(url.replace('127.0.0.1', place.address))).status).toBe(403);
    } finally {
      await open.close();
    }
  });

  it('fails the start if its file is invalid', async () => {
    const flow = path.join(EXAMPLE, 'README.md');
    await expect(startServer({ browser: 'none', flow })).rejects.toThrow(/^flow: /);
  });
});

async function overRestStatus(url: string, data: Plain[]): Promise<Plain> {
  const answer = await fetch(`${url}/index`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ data }),
  });
  expect(answer.status).toBe(200);
  return ((await answer.json()) as { header: { status: Plain } }).header.status;
}
