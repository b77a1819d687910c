/** The flow that comes along, and the example of one, used as their callers would: documents in, passages out. */
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { promisify } from 'node:util';
import { Client, credentials } from '@grpc/grpc-js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { createFlow, createGrpcGateway, createHttpGateway, type Flow, loadFlow } from '#flow/index.ts';
import { createPeers, type Plain } from '../../src/flow/proto/protocol.suite.ts';
import { type Site, startSite } from '../site/site.ts';
import { startServer, type TestServer } from '../support/server.ts';

const PEER = createPeers().today;
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

/** Sends documents to an endpoint and gives the documents of the answer, fields by their names on the wire. */
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

/** The request as another codec than ours writes it. */
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

let site: Site;
let server: TestServer;
let flow: Flow;
const urls: Record<string, string> = {};
const ends: (() => Promise<void>)[] = [];

beforeAll(async () => {
  site = await startSite({ '/water': WATER, '/bread': BREAD });
  server = await startServer({ allowNetworks: site.allow, browser: 'none' });
  const definition = loadFlow(path.join(EXAMPLE, 'flow.yml'));
  flow = createFlow(definition, { executors: server.app.flow.executors });
  await flow.start();
  for (const protocol of definition.gateway.protocols) {
    const gateway =
      protocol === 'GRPC'
        ? createGrpcGateway({ flow, version: '1.2.3' })
        : createHttpGateway({ flow, protocol, version: '1.2.3' });
    urls[protocol] = (await gateway.listen(0, '127.0.0.1')).url;
    ends.push(() => gateway.close(1000));
  }
});
afterAll(async () => {
  await Promise.all(ends.map((end) => end()));
  await flow?.close(1000);
  await server?.close();
  await site?.close();
});

describe.each<[string, () => Send]>([
  ['REST', () => overRest(urls.HTTP!)],
  ['a WebSocket in JSON', () => overJsonSocket(urls.WEBSOCKET!)],
  ['a WebSocket in bytes', () => overBytesSocket(urls.WEBSOCKET!)],
  ['gRPC', () => overGrpc(urls.GRPC!)],
  ['REST, the flow that is served when no other is configured', () => overRest(server.urls.flow!)],
  ['a WebSocket there', () => overJsonSocket(`${server.urls.flow!.replace('http', 'ws')}/stream`)],
  ['gRPC there', () => overGrpc(server.urls.grpc!)],
])('the example over %s', (_, sender) => {
  it('takes addresses and texts, answers questions with passages, and forgets what is deleted', async () => {
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

it('is asked by its script', async () => {
  const send = overRest(urls.HTTP!);
  await send('/index', [{ id: 'water', uri: `${site.origin}/water` }]);
  const script = path.join(EXAMPLE, 'ask.mjs');
  const { stdout } = await promisify(execFile)(process.execPath, [script, urls.WEBSOCKET!, 'is the tap water safe']);
  expect(stdout).toContain('safe to drink');
  await send('/delete', [{ id: 'water' }]);
});
