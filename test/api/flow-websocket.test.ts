/** The WebSocket interface of the flow over real sockets (docs/reference/wire/flow.md, WebSocket). */
import { once } from 'node:events';
import net from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import WebSocket from 'ws';
import { type Call, createRequest, type DataRequest, Document, Executor, NdArray, requests } from '#flow/index.ts';
import { createOldPeer } from '#flow/proto/old-protocol.suite.ts';
import { decodeRequest, decodeStatus, encodeRequest } from '#flow/proto/request.ts';
import { createGate, type Served, serveFlow } from '../support/flow-gateway.ts';

interface Client {
  readonly socket: WebSocket;
  send(frame: object | string | Uint8Array): void;
  /** The next frame that has not been read yet. */
  next(): Promise<Buffer>;
  // biome-ignore lint/suspicious/noExplicitAny: tests read any field of a response
  nextJson(): Promise<any>;
  readonly closed: Promise<{ code: number; reason: string }>;
}

async function open(url: string, protocols: string[] = [], options: WebSocket.ClientOptions = {}): Promise<Client> {
  const socket = new WebSocket(url, protocols, options);
  const frames: Buffer[] = [];
  const waiting: ((frame: Buffer) => void)[] = [];
  socket.on('message', (data: Buffer) => {
    const taker = waiting.shift();
    if (taker) taker(data);
    else frames.push(data);
  });
  const closed = new Promise<{ code: number; reason: string }>((resolve) => {
    socket.on('close', (code, reason) => resolve({ code, reason: reason.toString() }));
  });
  const opened = once(socket, 'open');
  await opened;
  socket.on('error', () => {});
  const next = (): Promise<Buffer> => {
    const frame = frames.shift();
    return frame ? Promise.resolve(frame) : new Promise((resolve) => waiting.push(resolve));
  };
  return {
    socket,
    send: (frame) =>
      socket.send(typeof frame === 'string' || frame instanceof Uint8Array ? frame : JSON.stringify(frame)),
    next,
    nextJson: async () => JSON.parse((await next()).toString()),
    closed,
  };
}

const refusedWith = (url: string, options: WebSocket.ClientOptions = {}): Promise<number> =>
  new Promise((resolve, reject) => {
    const socket = new WebSocket(url, options);
    socket.on('unexpected-response', (_, answer) => resolve(answer.statusCode ?? 0));
    socket.on('open', () => reject(new Error('it was opened')));
    socket.on('error', () => {});
  });

const request = (init: Parameters<typeof createRequest>[0]): Uint8Array => encodeRequest(createRequest(init));

/** Delays its response for the `slow` document. */
class Uneven extends Executor {
  static override readonly requests = requests<Uneven>({ '/index': 'run' });
  async run({ docs }: Call) {
    if (docs[0]?.text === 'slow') await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

const MARK = { fields: { mark: { string_value: '?' } } };

let served: Served;
let url: string;
beforeAll(async () => {
  served = await serveFlow({ protocol: 'WEBSOCKET' });
  url = served.url;
});
afterAll(() => served.close());

describe('JSON', () => {
  it('answers each frame with one, in snake case and without unset fields', async () => {
    const client = await open(`${url}/`);
    client.send({ data: [{ text: 'a' }], execEndpoint: '/index', parameters: { mark: '?' } });
    const answer = await client.nextJson();
    const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/);
    expect(answer).toEqual({
      header: { request_id: expect.stringMatching(/^[0-9a-f]{32}$/), exec_endpoint: '/index', target_executor: '' },
      parameters: { mark: '?' },
      routes: [
        { executor: 'gateway', start_time: time, end_time: time },
        { executor: 'marker', start_time: time, end_time: time },
      ],
      data: [expect.objectContaining({ text: 'a?', blob: null, chunks: null })],
    });
    client.socket.close();
    await client.closed;
  });

  it('accepts both spellings and null as data, and keeps the request id', async () => {
    const client = await open(`${url}/stream`);
    client.send({ data: null, exec_endpoint: '/index', header: { request_id: 'my-own' } });
    expect((await client.nextJson()).header).toEqual({
      request_id: 'my-own',
      exec_endpoint: '/index',
      target_executor: '',
    });
    client.send({ data: ['a'], targetExecutor: 'none' });
    const passed = await client.nextJson();
    expect(passed.data[0].text).toBe('a');
    expect(passed.routes[1].end_time).toBeUndefined();
    client.socket.terminate();
  });

  it('answers in the order of completion', async () => {
    const client = await open(`${url}/`);
    client.send({ data: null, exec_endpoint: '/wait', parameters: { ms: 500 }, header: { request_id: 'slow' } });
    client.send({ data: null, exec_endpoint: '/index', header: { request_id: 'fast' } });
    expect((await client.nextJson()).header.request_id).toBe('fast');
    expect((await client.nextJson()).header.request_id).toBe('slow');
    client.socket.terminate();
  });

  it('answers running requests after the end marker, then closes with 1000', async () => {
    const client = await open(`${url}/`);
    for (const id of ['1', '2']) {
      client.send({ data: null, exec_endpoint: '/wait', parameters: { ms: 100 }, header: { request_id: id } });
    }
    client.send('{}');
    client.send({ data: null, header: { request_id: 'too late' } });
    const ids = [(await client.nextJson()).header.request_id, (await client.nextJson()).header.request_id];
    expect(ids.toSorted()).toEqual(['1', '2']);
    expect(await client.closed).toEqual({ code: 1000, reason: '' });
  });

  it.each([
    ['{"data": [', ''],
    ['[]', ''],
    ['3', ''],
    ['{"execEndpoint": "/index"}', ''],
    ['{"data": 3, "header": {"request_id": "r7"}}', 'r7'],
    ['{"data": [], "targetExecutor": "(", "header": {"request_id": "r8"}}', 'r8'],
  ])('tells what is wrong with %s, and goes on', async (frame, id) => {
    const client = await open(`${url}/`);
    client.send(frame);
    const answer = await client.nextJson();
    expect(answer).toEqual({
      header: {
        request_id: id,
        status: {
          code: 1,
          description: expect.any(String),
          exception: { name: 'ValidationError', args: [expect.any(String)], stacks: [], executor: '' },
        },
      },
      data: [],
    });
    client.send({ data: ['a'], exec_endpoint: '/index' });
    expect((await client.nextJson()).data[0].text).toBe('a!');
    client.socket.terminate();
  });

  it('reports a failed executor in the answer, and continues', async () => {
    const client = await open(`${url}/`);
    client.send({ data: [{ text: 'kept' }], exec_endpoint: '/fail' });
    const answer = await client.nextJson();
    expect(answer.header.status).toMatchObject({ code: 1, exception: { name: 'RangeError', executor: 'Marker' } });
    expect(answer.data[0].text).toBe('kept');
    client.send({ data: null });
    expect((await client.nextJson()).header.status).toBeUndefined();
    client.socket.terminate();
  });

  it('ends with 1003 at a binary frame', async () => {
    const client = await open(`${url}/`, ['json']);
    client.send(request({ endpoint: '/index' }));
    expect(await client.closed).toMatchObject({ code: 1003 });
  });
});

describe('bytes', () => {
  const ask = async (client: Client, frame: Uint8Array): Promise<DataRequest> => {
    client.send(frame);
    return decodeRequest(await client.next());
  };

  it('answers the serialized message with the same id, arrays untouched', async () => {
    const client = await open(`${url}/`, ['bytes']);
    expect(client.socket.protocol).toBe('bytes');
    const tensor = NdArray.fromDense({ buffer: new Uint8Array([1, 2, 3, 4]), shape: [2], dtype: '>f2' });
    const answer = await ask(client, request({ requestId: 'r1', endpoint: '/none', docs: [new Document({ tensor })] }));
    expect(answer.header.requestId).toBe('r1');
    expect(answer.docs[0]?.tensor).toMatchObject({ shape: [2], dtype: '>f2' });
    expect([...answer.docs[0]!.tensor!.buffer]).toEqual([1, 2, 3, 4]);
  });

  // The Python client of the original framework sends 0x00: `bytes(True)`.
  it.each([0x00, 0x01])('answers running requests after the end marker %i, then closes with 1000', async (marker) => {
    const client = await open(`${url}/`, ['bytes']);
    client.send(request({ requestId: 'slow', endpoint: '/wait', parameters: { ms: 100 } }));
    client.send(new Uint8Array([marker]));
    expect(decodeRequest(await client.next()).header.requestId).toBe('slow');
    expect(await client.closed).toEqual({ code: 1000, reason: '' });
  });

  it('accepts an empty frame as an empty request', async () => {
    const client = await open(`${url}/`, ['bytes']);
    const answer = await ask(client, new Uint8Array());
    expect(answer.header.status).toBeUndefined();
    expect(answer.routes.map(({ executor }) => executor)).toEqual(['gateway', 'marker']);
    client.socket.terminate();
  });

  it('never decodes a pickle', async () => {
    const client = await open(`${url}/`, ['bytes']);
    const docsBytes = Buffer.from("\x80\x04cposix\nsystem\n(S'id'\ntR.", 'latin1');
    const answer = await ask(client, encodeRequest({ ...createRequest({ requestId: 'r2' }), docsBytes }));
    expect(answer.header).toMatchObject({
      requestId: 'r2',
      status: { code: 1, exception: { name: 'UnsupportedContent' } },
    });
    expect((await ask(client, request({ requestId: 'r3', endpoint: '/index' }))).header.requestId).toBe('r3');
    client.socket.terminate();
  });

  it('reports an invalid target pattern in the answer', async () => {
    const client = await open(`${url}/`, ['bytes']);
    const answer = await ask(client, request({ requestId: 'r4', targetExecutor: '(' }));
    expect(answer.header).toMatchObject({
      requestId: 'r4',
      status: { code: 1, exception: { name: 'ValidationError' } },
    });
    client.socket.terminate();
  });

  it('ends with 1007 at invalid bytes, with 1003 at text', async () => {
    const broken = await open(`${url}/`, ['bytes']);
    broken.send(new Uint8Array([0x0a, 0xff, 0xff, 0xff]));
    expect(await broken.closed).toMatchObject({ code: 1007, reason: expect.stringContaining('DataRequestProto') });
    const wrong = await open(`${url}/`, ['bytes']);
    wrong.send('{}');
    expect(await wrong.closed).toMatchObject({ code: 1003 });
  });
});

describe('a connection', () => {
  it.each([
    [[], ''],
    [['json'], 'json'],
    [['bytes'], 'bytes'],
    [['bytes', 'json'], 'json'],
  ])('that asks for %j gets %j', async (asked, chosen) => {
    const { socket } = await open(`${url}/`, asked);
    expect(socket.protocol).toBe(chosen);
    socket.terminate();
  });

  it('is rejected with 403 at any other path', async () => {
    expect(await refusedWith(`${url}/nothing`)).toBe(403);
  });

  it('needs the token if one is set', async () => {
    const own = await serveFlow({ protocol: 'WEBSOCKET', token: 'sesame' });
    expect(await refusedWith(own.url)).toBe(401);
    const client = await open(own.url, [], { headers: { authorization: 'Bearer sesame' } });
    client.send({ data: null });
    expect((await client.nextJson()).data).toEqual([]);
    client.socket.terminate();
    await own.close();
  });

  it('of a dry run gets one answer', async () => {
    const text = await open(`${url}/dry_run`);
    expect((await text.next()).toString()).toBe('{}');
    expect(await text.closed).toMatchObject({ code: 1000 });
    const bytes = await open(`${url}/dry_run`, ['bytes']);
    expect(await bytes.next()).toHaveLength(0);
    expect(await bytes.closed).toMatchObject({ code: 1000 });
  });

  it('of a dry run gets the unavailable executors', async () => {
    class Gone extends Executor {
      static override readonly requests = requests<Gone>({ '/index': 'leave' });
      leave() {
        throw new RangeError('gone');
      }
    }
    const own = await serveFlow({
      protocol: 'WEBSOCKET',
      executors: [{ name: 'gone', uses: Gone, exitOnExceptions: ['RangeError'] }],
    });
    const client = await open(own.url);
    client.send({ data: null, exec_endpoint: '/index' });
    await client.next();
    const text = await open(`${own.url}/dry_run`);
    expect(await text.nextJson()).toMatchObject({ code: 'ERROR', description: expect.stringContaining('gone') });
    const bytes = await open(`${own.url}/dry_run`, ['bytes']);
    expect(decodeStatus(await bytes.next())).toMatchObject({ code: 1, description: expect.stringContaining('gone') });
    const old = await open(own.url);
    old.send({ requestId: 'r', control: { command: 'STATUS' } });
    expect(await old.closed).toMatchObject({ code: 1011 });
    client.socket.terminate();
    await own.close();
  });

  it('is closed with 1011 and a short reason if an executor is unavailable', async () => {
    class Slow extends Executor {
      static override readonly requests = requests<Slow>({ '/index': 'slow' });
      slow() {
        return new Promise<void>(() => {});
      }
    }
    const own = await serveFlow({
      protocol: 'WEBSOCKET',
      executors: [{ name: 'slow', uses: Slow, timeoutSend: 30, retries: 0 }],
    });
    const client = await open(own.url);
    client.send({ data: null, exec_endpoint: '/index' });
    const { code, reason } = await client.closed;
    expect(code).toBe(1011);
    expect(Buffer.byteLength(reason)).toBeLessThanOrEqual(123);
    expect(reason).toMatch(/^Network error while connecting to .*It may be down\.$/);
    await own.close();
  });

  it('is closed with 1009 at a frame that is too large', async () => {
    const client = await open(url);
    client.send(`{"data":["${'a'.repeat(17 * 2 ** 20)}"]}`);
    expect(await client.closed).toMatchObject({ code: 1009 });
    const larger = await serveFlow({ protocol: 'WEBSOCKET', maxBodyBytes: 32 * 2 ** 20 });
    const allowed = await open(larger.url);
    allowed.send(`{"data":["${'a'.repeat(17 * 2 ** 20)}"]}`);
    expect((await allowed.next()).length).toBeGreaterThan(17 * 2 ** 20);
    allowed.socket.terminate();
    await larger.close();
  }, 60_000);

  it('is closed after its answers when the gateway closes', async () => {
    const { Gate, started, release } = createGate();
    const own = await serveFlow({ protocol: 'WEBSOCKET', executors: [{ uses: Gate }] });
    const client = await open(own.url);
    client.send({ data: null, exec_endpoint: '/gate', header: { request_id: 'last' } });
    await started;
    const closing = own.gateway.close(60_000);
    release();
    expect((await client.nextJson()).header.request_id).toBe('last');
    expect(await client.closed).toMatchObject({ code: 1001 });
    await closing;
    await own.close();
  });

  it('that is lost aborts its work', async () => {
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
    const own = await serveFlow({ protocol: 'WEBSOCKET', executors: [{ uses: Watch }] });
    const client = await open(own.url);
    client.send({ data: null, exec_endpoint: '/index' });
    await started;
    client.socket.terminate();
    await aborted;
    await own.close();
  });
});

describe('back-pressure', () => {
  it('runs at most prefetch requests at a time, and answers all', async () => {
    let inWork = 0;
    let most = 0;
    class Count extends Executor {
      static override readonly requests = requests<Count>({ '/index': 'count' });
      async count() {
        most = Math.max(most, ++inWork);
        await new Promise((resolve) => setTimeout(resolve, 5));
        inWork--;
      }
    }
    const own = await serveFlow({ protocol: 'WEBSOCKET', prefetch: 3, executors: [{ uses: Count }] });
    const client = await open(own.url);
    for (let at = 0; at < 100; at++) {
      client.send({ data: null, exec_endpoint: '/index', header: { request_id: String(at) } });
    }
    client.send('{}');
    const ids = new Set<string>();
    for (let at = 0; at < 100; at++) ids.add((await client.nextJson()).header.request_id);
    expect(ids.size).toBe(100);
    expect(most).toBe(3);
    expect(await client.closed).toMatchObject({ code: 1000 });
    await own.close();
  });

  /** A client that sends requests, and reads responses only when the test tells it to. */
  async function unreading(port: number): Promise<net.Socket> {
    const socket = net.connect(port, '127.0.0.1');
    socket.on('error', () => {});
    socket.write(
      'GET /stream HTTP/1.1\r\nHost: a\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n',
    );
    await once(socket, 'data');
    socket.pause();
    return socket;
  }

  function frameOf(text: string): Buffer {
    const payload = Buffer.from(text);
    const head = Buffer.alloc(14);
    head[0] = 0x81;
    head[1] = 0x80 | 127;
    head.writeBigUInt64BE(BigInt(payload.length), 2);
    return Buffer.concat([head, payload]);
  }

  it('stops reading from a client that reads no answers, serves others, and disconnects it in the end', async () => {
    let seen = 0;
    class Seen extends Executor {
      static override readonly requests = requests<Seen>({ '/index': 'see' });
      see() {
        seen++;
      }
    }
    const own = await serveFlow({
      executors: [{ uses: Seen }],
      limits: { maxUnreadBytes: 100_000, pingMs: 500, pongMs: 2000 },
    });
    const socket = await unreading(own.port);
    const closed = new Promise((resolve) => socket.on('close', resolve));
    const frame = frameOf(JSON.stringify({ data: ['a'.repeat(100_000)], exec_endpoint: '/index' }));
    for (let at = 0; at < 1000; at++) socket.write(frame);
    const other = await open(`${own.url.replace('http', 'ws')}/stream`);
    other.send({ data: ['a'], exec_endpoint: '/index' });
    expect((await other.nextJson()).data[0].text).toBe('a');
    await closed;
    expect(seen).toBeGreaterThan(1);
    expect(seen).toBeLessThan(900);
    other.socket.terminate();
    await own.close();
  }, 60_000);

  it('keeps a client that answers pings, and disconnects one that does not', async () => {
    const own = await serveFlow({ protocol: 'WEBSOCKET', limits: { pingMs: 100, pongMs: 2000 } });
    const client = await open(own.url);
    let pings = 0;
    client.socket.on('ping', () => pings++);
    const silent = await open(own.url, [], { autoPong: false });
    expect(await silent.closed).toMatchObject({ code: 1006 });
    client.send({ data: null, header: { request_id: 'alive' } });
    expect((await client.nextJson()).header.request_id).toBe('alive');
    expect(pings).toBeGreaterThan(0);
    client.socket.terminate();
    await own.close();
  });
});

describe('the oldest frames on /stream', () => {
  it('are recognized by the name of their body and answered in their format', async () => {
    const client = await open(`${url}/stream`);
    client.send({ requestId: 'r1', index: { docs: [{ id: 'd1', text: 'a', mimeType: 'text/plain' }] } });
    const answer = await client.nextJson();
    expect(answer).toMatchObject({
      requestId: 'r1',
      index: { docs: [{ id: 'd1', text: 'a!', mimeType: 'text/plain', contentHash: expect.any(String) }] },
      status: {},
    });
    expect(answer.routes.map(({ pod }: { pod: string }) => pod)).toEqual(['gateway', 'marker', 'gateway']);
    client.send({ requestId: 'r2', delete: { ids: ['d1', 'd2'] } });
    expect(await client.nextJson()).toMatchObject({ requestId: 'r2', delete: { ids: ['d1', 'd2'] } });
    client.send({ requestId: 'r3', control: { command: 'STATUS' } });
    expect(await client.nextJson()).toMatchObject({ requestId: 'r3', status: { code: 'READY' } });
    client.socket.terminate();
  });
});

describe('old requests as bytes', () => {
  const v1 = createOldPeer(1);
  const v2 = createOldPeer(2);
  const ID = '5f3c2c9a-63f4-4a38-9f0e-0a7d2d2d1a10';
  const index = (request_id: string, text: string) =>
    v1.encode('RequestProto', { request_id, index: { docs: [{ id: 'd1', text }] } });
  // biome-ignore lint/suspicious/noExplicitAny: tests read any field of a response
  const answerOf = async (client: Client, peer = v1): Promise<any> => peer.decode('RequestProto', await client.next());

  it.each([[], ['bytes']])('of generation 1 are answered in their form: sub-protocol %j', async (...asked) => {
    const client = await open(`${url}/stream`, asked);
    client.send(index(ID, 'a'));
    const answer = await answerOf(client);
    expect(answer).toMatchObject({ request_id: ID, status: {}, index: { docs: [{ id: 'd1', text: 'a!' }] } });
    expect(answer.index.docs[0].content_hash).toMatch(/^[0-9a-f]{16}$/);
    expect(answer.routes.map(({ pod }: { pod: string }) => pod)).toEqual(['gateway', 'marker', 'gateway']);
    client.send(v1.encode('RequestProto', { request_id: 'r2', delete: { ids: ['d1'] } }));
    expect(await answerOf(client)).toMatchObject({ request_id: 'r2', delete: { ids: ['d1'] } });
    client.send(v1.encode('RequestProto', { request_id: 'r3', control: { command: 1 } }));
    expect(await answerOf(client)).toMatchObject({ request_id: 'r3', control: { command: 1 }, status: { code: 2 } });
    client.send(v1.encode('RequestProto', { request_id: 'r4', control: { command: 5 } }));
    expect(await answerOf(client)).toMatchObject({
      request_id: 'r4',
      status: { code: 3, exception: { name: 'ValidationError' } },
    });
    client.socket.terminate();
  });

  it('of generation 1 are answered in order, and their client ends the connection', async () => {
    const slow = await serveFlow({
      protocol: 'WEBSOCKET',
      executors: [{ uses: Uneven, name: 'uneven' }],
    });
    const client = await open(`${slow.url}/stream`);
    for (const id of ['slow', 'fast']) client.send(index(id, id));
    client.send(new Uint8Array([0]));
    expect([(await answerOf(client)).request_id, (await answerOf(client)).request_id]).toEqual(['slow', 'fast']);
    client.send(index('again', 'x'));
    expect((await answerOf(client)).request_id).toBe('again');
    client.socket.terminate();
    await slow.close();
  });

  it('of generation 2 have an endpoint, and the end marker closes the connection', async () => {
    const client = await open(`${url}/`);
    const header = { exec_endpoint: '/foo', target_peapod: 'mark' };
    const data = { docs: [{ id: 'd1', text: 'a' }] };
    client.send(v2.encode('RequestProto', { request_id: ID, data, header, parameters: MARK }));
    const answer = await answerOf(client, v2);
    expect(answer).toMatchObject({
      request_id: ID,
      data: { docs: [{ id: 'd1', text: 'a?' }] },
      header: { exec_endpoint: '/foo' },
      status: {},
    });
    expect(answer.routes.map(({ pod }: { pod: string }) => pod)).toEqual(['gateway', 'marker']);
    client.send(v2.encode('RequestProto', { request_id: 'f', data, header: { exec_endpoint: '/fail' } }));
    expect(await answerOf(client, v2)).toMatchObject({
      request_id: 'f',
      status: { code: 3, description: "RangeError('boom', 42)", exception: { executor: 'Marker' } },
    });
    client.send(new Uint8Array([0]));
    expect(await client.closed).toMatchObject({ code: 1000 });
  });

  it('without an id are old if the flow serves an old version, or if the client asked for no sub-protocol', async () => {
    const bytes = v1.encode('RequestProto', { index: { docs: [{ id: 'd1', text: 'a' }] } });
    const own = await serveFlow({ protocol: 'WEBSOCKET', restApiVersion: '1' });
    for (const client of [await open(own.url, ['bytes']), await open(url)]) {
      client.send(bytes);
      expect(await answerOf(client)).toMatchObject({ index: { docs: [{ id: 'd1', text: 'a!' }] } });
      client.socket.terminate();
    }
    await own.close();
  });

  it('are the only bytes without a sub-protocol; without a body they end the connection', async () => {
    const current = await open(url);
    current.send(request({ requestId: 'r1', endpoint: '/index' }));
    expect(await current.closed).toMatchObject({ code: 1003 });
    const empty = await open(url);
    empty.send(v1.encode('RequestProto', { request_id: ID }));
    expect(await empty.closed).toMatchObject({ code: 1007, reason: 'The RequestProto has no body' });
  });
});

describe('one port for REST and WebSocket', () => {
  it('accepts connections at /, /stream and /dry_run, and refuses other paths', async () => {
    const own = await serveFlow();
    const at = own.url.replace('http', 'ws');
    for (const path of ['/', '/stream']) {
      const client = await open(at + path);
      client.send({ data: ['a'], exec_endpoint: '/index' });
      expect((await client.nextJson()).data[0].text).toBe('a!');
      client.socket.terminate();
    }
    expect((await (await open(`${at}/dry_run`)).next()).toString()).toBe('{}');
    expect(await refusedWith(`${at}/index`)).toBe(403);
    await own.close();
  });

  it('a WebSocket port serves health and description, but accepts no documents over HTTP', async () => {
    const at = url.replace('ws', 'http');
    expect(await (await fetch(`${at}/`)).json()).toEqual({});
    expect(await (await fetch(`${at}/dry_run`)).json()).toMatchObject({ code: 0 });
    for (const path of ['/status', '/docs', '/openapi.json']) expect((await fetch(at + path)).status).toBe(200);
    expect((await fetch(`${at}/index`, { method: 'POST', body: '{}' })).status).toBe(404);
  });
});
