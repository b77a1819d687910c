import { once } from 'node:events';
import { createServer } from 'node:net';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { defineFlow } from '../definition/define-flow.ts';
import { Document } from '../document.ts';
import { type Call, Executor, requests } from '../executor.ts';
import { createRequest } from '../request.ts';
import { type FlowServer, serveFlow } from '../serve-flow.ts';
import { createFlowClient, type FlowClient, FlowFailed } from './client.ts';
import { FlowUnreachable } from './transport.ts';

const TOKEN = 'a-token-of-the-tests';
let waits = 0;

class Every extends Executor {
  static override readonly requests = requests<Every>({
    '/mark': 'mark',
    '/update': 'mark',
    '/count': 'count',
    '/fail': 'fail',
    '/wait': 'wait',
  });

  mark({ docs, parameters }: Call): void {
    for (const doc of docs) doc.text += String(parameters.mark ?? '!');
  }

  count({ docs }: Call): Document[] {
    return [new Document({ text: String(docs.length), embedding: [1, 2.5], tags: { a: [1, null] } })];
  }

  fail(): void {
    throw new RangeError('out of bounds');
  }

  async wait({ signal }: Call): Promise<void> {
    waits += 1;
    await new Promise((resolve) => signal.addEventListener('abort', resolve));
  }
}

async function serve(options: Record<string, unknown> = {}): Promise<FlowServer> {
  const protocol = ['HTTP', 'WEBSOCKET', 'GRPC'];
  const common = { protocol, port: [0, 0, 0], host: '127.0.0.1', token: TOKEN, ...options };
  const definition = defineFlow(common).add({ name: 'every', uses: Every }).definition();
  return serveFlow({ definition, version: '1.2.3' });
}

let server: FlowServer;
const clients: FlowClient[] = [];
beforeAll(async () => {
  server = await serve();
});
afterEach(() => {
  for (const client of clients.splice(0)) client.close();
});
afterAll(() => server?.close(0));

function open(address: string, token: string | undefined = TOKEN): FlowClient {
  const client = createFlowClient(address, token === undefined ? {} : { token });
  clients.push(client);
  return client;
}

describe.each(['HTTP', 'WEBSOCKET', 'GRPC'])('a client over %s', (protocol) => {
  const addressOf = ({ places }: FlowServer) => places.find((place) => place.protocol === protocol)!.url;
  const client = (token?: string) => open(addressOf(server), token);

  it('sends documents in batches and returns them in order', async () => {
    const docs = Array.from({ length: 25 }, (_, at) => new Document({ id: `d${at}`, text: `${at}` }));
    const answered = await client().post('/mark', docs, { parameters: { mark: '?' }, requestSize: 3 });
    expect(answered.map(({ id, text }) => [id, text])).toEqual(docs.map(({ id }, at) => [id, `${at}?`]));
    const counts = await client().post('/count', docs, { requestSize: 10, atOnce: 2 });
    expect(counts.map(({ text }) => text)).toEqual(['10', '10', '5']);
    expect(counts[0]!.embedding?.toList()).toEqual([1, 2.5]);
    expect(counts[0]!.tags).toEqual({ a: [1, null] });
  });

  it('sends a request without documents', async () => {
    expect((await client().post('/count', [])).map(({ text }) => text)).toEqual(['0']);
  });

  it('targets executors', async () => {
    const one = () => [new Document({ text: 'x' })];
    expect((await client().post('/mark', one(), { targetExecutor: 'ev' }))[0]!.text).toBe('x!');
    expect((await client().post('/mark', one(), { targetExecutor: 'other' }))[0]!.text).toBe('x');
  });

  it('throws the failure of an executor or returns it', async () => {
    const failure = await client()
      .post('/fail', [new Document()])
      .catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(FlowFailed);
    expect((failure as FlowFailed).message).toBe("RangeError('out of bounds')");
    const answer = await client().send(createRequest({ endpoint: '/fail', docs: [new Document('kept')] }));
    expect(answer.header.status?.exception).toMatchObject({ name: 'RangeError', executor: 'Every' });
    expect(answer.docs.map(({ id }) => id)).toEqual(['kept']);
  });

  it('checks readiness and sends the token', async () => {
    expect(await client().ready()).toBe(true);
    expect(await client('wrong').ready()).toBe(false);
    await expect(client('wrong').post('/mark', [])).rejects.toThrow(FlowUnreachable);
  });

  it('can be aborted', async () => {
    const controller = new AbortController();
    const before = waits;
    const posted = client().post('/wait', [], { signal: controller.signal });
    posted.catch(() => {});
    await expect.poll(() => waits, { timeout: 20_000 }).toBe(before + 1);
    controller.abort(new Error('enough'));
    await expect(posted).rejects.toThrow('enough');
  });

  it('reports an unreachable flow and connects later', async () => {
    const first = await serve();
    const address = addressOf(first);
    const late = open(address);
    await late.post('/mark', []);
    await first.close(0);
    await expect(late.post('/mark', [])).rejects.toThrow(FlowUnreachable);
    expect(await late.ready()).toBe(false);
    const port = Number(new URL(address).port);
    const places = ['HTTP', 'WEBSOCKET', 'GRPC'].map((one) => (one === protocol ? port : 0));
    const second = await serve({ port: places });
    try {
      await expect.poll(() => late.ready(), { timeout: 20_000 }).toBe(true);
      expect(await late.post('/count', [])).toHaveLength(1);
    } finally {
      await second.close(0);
    }
  });
});

it('uses an endpoint’s own route if the gateway has no /post', async () => {
  const bare = await serve({ no_debug_endpoints: true });
  try {
    const client = open(bare.places[0]!.url);
    expect((await client.post('/update', [new Document({ text: 'x' })]))[0]!.text).toBe('x!');
    await expect(client.post('/mark', [])).rejects.toThrow('404');
  } finally {
    await bare.close(0);
  }
});

it('rejects answers that are not from a gateway', async () => {
  const stranger = createServer((socket) => {
    socket.on('error', () => {});
    socket.end('HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nhi');
  });
  stranger.listen(0, '127.0.0.1');
  await once(stranger, 'listening');
  const { port } = stranger.address() as { port: number };
  try {
    for (const scheme of ['http', 'ws', 'grpc']) {
      const client = open(`${scheme}://127.0.0.1:${port}`);
      await expect(client.post('/mark', [])).rejects.toThrow(FlowUnreachable);
      expect(await client.ready()).toBe(false);
    }
  } finally {
    stranger.close();
  }
});

it.each(['ftp://a.example', 'localhost:80', 'nonsense'])('refuses %s', (address) => {
  expect(() => createFlowClient(address)).toThrow(TypeError);
});
