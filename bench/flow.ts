/**
 * The gateway of a flow with three executors, compared with a bare Node server that parses and echoes the same body.
 * Each of N connections sends one request after another, over REST, WebSocket (JSON and bytes) and gRPC. The executors
 * either have no handler for the endpoint (rest, ws, bytes, grpc), or a handler that does nothing: in the process of
 * the gateway (rest-inside, grpc-inside), or each in a separate process (rest-own, grpc-own).
 *
 *     tsx --conditions=source bench/flow.ts [--seconds 2] [--only bare,rest] [--connections 1,16,64]
 *         [--bodies '1 document'] [--memory 100000]
 *
 * The servers run from the built package in separate processes. This process generates the load over plain sockets,
 * which is cheap. On a busy machine, the processor time per request is the most stable result.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import net from 'node:net';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { credentials, Client as GrpcClient } from '@grpc/grpc-js';
import WebSocket from 'ws';
import { createRequest, Document } from '#flow/index.ts';
import { encodeRequest } from '#flow/proto/request.ts';
import type { Ports, ServerKind } from './flow-server.ts';
import { nodeBaseline, report } from './report.ts';
import { build, machine, percentile, residentMb, sized } from './support.ts';

const { values: given } = parseArgs({
  options: {
    seconds: { type: 'string', default: sized('2', '0.1') },
    only: { type: 'string', default: 'bare,rest,ws,bytes,grpc,rest-inside,rest-own,grpc-inside,grpc-own' },
    connections: { type: 'string', default: sized('1,16,64', '2') },
    bodies: { type: 'string', default: sized('1 document,100 documents,100 × 512 numbers', '1 document') },
    memory: { type: 'string', default: '0' },
  },
});
const SECONDS = Number(given.seconds);

interface Server {
  readonly ports: Ports;
  readonly process: ChildProcess;
}

async function start(kind: ServerKind): Promise<Server> {
  // Omits the `source` condition, so that the built package is measured.
  const execArgv = process.execArgv.filter((option) => !option.startsWith('--conditions'));
  const child = fork(path.join(import.meta.dirname, 'flow-server.ts'), [kind], { execArgv });
  const [ports] = (await once(child, 'message')) as [Ports];
  return { ports, process: child };
}

/** One connection, which sends a request and then reads its response. */
interface Client {
  ask(): Promise<void>;
  close(): void;
}

/**
 * Sends requests over a plain socket. Each response must have a Content-Length, the status 200 and at least as many
 * bytes as were sent.
 */
async function restClient(port: number, body: string): Promise<Client> {
  const socket = net.connect(port, '127.0.0.1');
  await once(socket, 'connect');
  const head = `POST /index HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n`;
  const request = Buffer.from(head + body);
  let settle: { resolve: () => void; reject: (error: Error) => void } | undefined;
  let first: Buffer | undefined;
  let missing = -1;
  socket.on('data', (part) => {
    if (missing < 0) {
      first = first ? Buffer.concat([first, part]) : part;
      const end = first.indexOf('\r\n\r\n');
      if (end < 0) return;
      const text = first.toString('latin1', 0, end);
      const length = Number(/content-length: (\d+)/i.exec(text)?.[1]);
      if (!text.startsWith('HTTP/1.1 200') || !(length >= body.length / 2)) settle?.reject(new Error(text));
      missing = length - (first.length - end - 4);
      first = undefined;
    } else missing -= part.length;
    if (missing === 0) {
      missing = -1;
      settle?.resolve();
    }
  });
  socket.on('error', (error) => settle?.reject(error));
  return {
    ask: () =>
      new Promise((resolve, reject) => {
        settle = { resolve, reject };
        socket.write(request);
      }),
    close: () => socket.destroy(),
  };
}

async function socketClient(port: number, frame: string | Uint8Array): Promise<Client> {
  const isBinary = typeof frame !== 'string';
  const socket = new WebSocket(`ws://127.0.0.1:${port}/stream`, isBinary ? ['bytes'] : ['json'], {
    perMessageDeflate: false,
    skipUTF8Validation: true,
  });
  await once(socket, 'open');
  let settle: { resolve: () => void; reject: (error: Error) => void } | undefined;
  socket.on('message', (data: Buffer) => {
    if (data.length < frame.length / 2) settle?.reject(new Error(data.toString('utf8', 0, 300)));
    else settle?.resolve();
  });
  socket.on('close', (code) => settle?.reject(new Error(`closed with ${code}`)));
  return {
    ask: () =>
      new Promise((resolve, reject) => {
        settle = { resolve, reject };
        socket.send(frame);
      }),
    close() {
      settle = undefined;
      socket.terminate();
    },
  };
}

/** A sequence of calls over a separate connection. */
async function grpcClient(port: number, message: Uint8Array): Promise<Client> {
  const client = new GrpcClient(`127.0.0.1:${port}`, credentials.createInsecure(), {
    'grpc.use_local_subchannel_pool': 1,
    'grpc.max_receive_message_length': -1,
  });
  const bytes = (value: Buffer) => value;
  const call = client.makeBidiStreamRequest('/jina.JinaRPC/Call', bytes, bytes);
  const request = Buffer.from(message);
  let settle: { resolve: () => void; reject: (error: Error) => void } | undefined;
  call.on('data', (data: Buffer) => {
    if (data.length < request.length / 2) settle?.reject(new Error('the answer is too short'));
    else settle?.resolve();
  });
  call.on('error', (error) => settle?.reject(error));
  return {
    ask: () =>
      new Promise((resolve, reject) => {
        settle = { resolve, reject };
        call.write(request);
      }),
    close() {
      settle = undefined;
      call.cancel();
      client.close();
    },
  };
}

let seed = 9;
const random = (): number => {
  seed = (Math.imul(seed, 1_103_515_245) + 12_345) & 0x7fffffff;
  return Math.fround((seed / 0x7fffffff) * 2 - 1);
};

function documents(count: number, dimensions: number): Document[] {
  return Array.from(
    { length: count },
    (_, at) =>
      new Document({
        text: `The pot of tea number ${at} stands on the table`,
        ...(dimensions && { embedding: Float32Array.from({ length: dimensions }, random) }),
      }),
  );
}

const asJson = (docs: readonly Document[]): string =>
  JSON.stringify({
    data: docs.map(({ id, text, embedding }) => ({ id, text, ...(embedding && { embedding: embedding.toList() }) })),
    execEndpoint: '/index',
  });

const asMessage = (docs: readonly Document[]): Uint8Array =>
  encodeRequest(createRequest({ endpoint: '/index', docs, requestId: 'a' }));

const CASES = [
  ['1 document', 1, 0],
  ['100 documents', 100, 0],
  ['100 × 512 numbers', 100, 512],
] as const;

async function cpuOf({ process: child }: Server): Promise<number> {
  child.send('cpu');
  const [used] = (await once(child, 'message')) as [number];
  return used;
}

interface Load {
  readonly perSecond: number;
  readonly p50: number;
  readonly p99: number;
  /** Processor time of the server per request. */
  readonly cpuMicros: number;
}

async function load(server: Server, clients: readonly Client[]): Promise<Load> {
  const times: number[] = [];
  const cpuBefore = await cpuOf(server);
  const startedAt = performance.now();
  const end = startedAt + SECONDS * 1000;
  await Promise.all(
    clients.map(async (client) => {
      for (let from = performance.now(); from < end; from = performance.now()) {
        await client.ask();
        times.push(performance.now() - from);
      }
    }),
  );
  const perSecond = (times.length * 1000) / (performance.now() - startedAt);
  const cpuMicros = ((await cpuOf(server)) - cpuBefore) / times.length;
  return { perSecond, p50: percentile(times, 0.5), p99: percentile(times, 0.99), cpuMicros };
}

build();
const servers: Record<ServerKind, Server> = {
  bare: await start('bare'),
  gateway: await start('gateway'),
  inside: await start('inside'),
  own: await start('own'),
};

interface Way {
  readonly server: Server;
  connect(docs: readonly Document[]): Promise<Client>;
}

const rest = (server: Server): Way => ({ server, connect: (docs) => restClient(server.ports.http, asJson(docs)) });
const ws = (server: Server): Way => ({ server, connect: (docs) => socketClient(server.ports.ws!, asJson(docs)) });
const bytes = (server: Server): Way => ({ server, connect: (docs) => socketClient(server.ports.ws!, asMessage(docs)) });
const grpc = (server: Server): Way => ({ server, connect: (docs) => grpcClient(server.ports.grpc!, asMessage(docs)) });

const WAYS: Record<string, Way> = {
  bare: rest(servers.bare),
  rest: rest(servers.gateway),
  ws: ws(servers.gateway),
  bytes: bytes(servers.gateway),
  grpc: grpc(servers.gateway),
  'rest-inside': rest(servers.inside),
  'rest-own': rest(servers.own),
  'grpc-inside': grpc(servers.inside),
  'grpc-own': grpc(servers.own),
};

/** Number of warm-up requests, so that the code of the server and the executors is compiled. */
const WARM_UP = 3000;
const WARM_UP_MS = 10_000;

async function measure(name: string, docs: readonly Document[], connections: number): Promise<Load> {
  const { server, connect } = WAYS[name]!;
  const clients = await Promise.all(Array.from({ length: connections }, () => connect(docs)));
  const warmUntil = performance.now() + WARM_UP_MS;
  for (let at = 0; at < WARM_UP / connections && performance.now() < warmUntil; at++) {
    await Promise.all(clients.map((client) => client.ask()));
  }
  const result = await load(server, clients);
  for (const client of clients) client.close();
  return result;
}

async function speeds(): Promise<void> {
  const rows: (string | number)[][] = [];
  const only = given.only.split(',');
  const bodies = given.bodies.split(',');
  for (const [name, count, dimensions] of CASES.filter(([one]) => bodies.includes(one))) {
    const docs = documents(count, dimensions);
    for (const connections of given.connections.split(',').map(Number)) {
      let bare: Load | undefined;
      for (const way of Object.keys(WAYS).filter((one) => only.includes(one))) {
        const result = await measure(way, docs, connections);
        const { perSecond, p50, p99, cpuMicros } = result;
        if (way === 'bare') bare = result;
        const ratios = bare ? [perSecond / bare.perSecond, bare.cpuMicros / cpuMicros] : [Number.NaN, Number.NaN];
        rows.push([name, String(connections), way, perSecond, p50, p99, cpuMicros, ...ratios]);
      }
    }
  }
  report(
    'flow.speed',
    ['body', 'connections', 'way', 'requests/s', 'p50 ms', 'p99 ms', 'CPU µs', 'of bare', 'of bare by CPU'],
    rows,
    { ratios: ['of bare', 'of bare by CPU'], baselines: [nodeBaseline('bare echo')] },
  );
}

/** Measures the resident memory during this many requests, each with one document. */
async function memory(total: number): Promise<void> {
  const { pid } = servers.gateway.process;
  const docs = documents(1, 0);
  const clients = await Promise.all(Array.from({ length: 16 }, () => WAYS.rest!.connect(docs)));
  const rows: number[][] = [];
  for (let done = 0; done < total; ) {
    const step = Math.ceil(total / 10);
    const each = Math.ceil(step / clients.length);
    await Promise.all(
      clients.map(async (client) => {
        for (let at = 0; at < each; at++) await client.ask();
      }),
    );
    done += each * clients.length;
    rows.push([done, residentMb(pid!)]);
  }
  for (const client of clients) client.close();
  report('flow.memory', ['requests', 'resident MB'], rows);
}

console.log(`${machine()}; flow started and ports open in ${servers.gateway.ports.readyMs.toFixed(0)} ms\n`);
await speeds();
if (Number(given.memory) > 0) await memory(Number(given.memory));
for (const { process: child } of Object.values(servers)) child.disconnect();
