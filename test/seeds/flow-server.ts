/**
 * Starts flows from their files on free ports, with executors that show what they received, and clients for each
 * protocol.
 */
import { once } from 'node:events';
import * as grpc from '@grpc/grpc-js';
import { expect } from 'vitest';
import WebSocket from 'ws';
import { type Call, Executor, parseFlow, requests, serveFlow } from '#flow/index.ts';
import { createPeers, type Plain } from '#flow/proto/protocol.suite.ts';

// biome-ignore lint/suspicious/noExplicitAny: tests read any field of a response
export type Any = any;

let opened = 0;

/**
 * Adds its name to the tag `seen` of each document, and sets the tag `together` to the number of documents in the same
 * call. The result contains the endpoint, the parameters, and a number that changes after a reload.
 */
class Recorder extends Executor {
  readonly number = ++opened;

  probe({ docs, endpoint, parameters }: Call) {
    const { deployment } = this.context;
    for (const doc of docs) {
      doc.tags = { ...doc.tags, seen: `${doc.tags.seen ?? ''}${deployment} `, together: docs.length };
    }
    return { endpoint, parameters, number: this.number };
  }
}

class Probe extends Recorder {
  static override readonly requests = requests<Probe>({
    '/index': 'probe',
    '/search': 'probe',
    '/update': 'probe',
    '/delete': 'probe',
    '/train': 'probe',
    '/foo': 'probe',
  });
}

/** Handles only `/search`. */
class Searcher extends Recorder {
  static override readonly requests = requests<Searcher>({ '/search': 'probe' });
}

/** Handles every endpoint that has no handler of its own. */
class Anything extends Recorder {
  static override readonly requests = requests<Anything>({ '/default': 'probe' });
}

/** Fails on `/fail`. On `/wait`, waits until a request to `/release` arrives. */
class Troubled extends Executor {
  static override readonly requests = requests<Troubled>({ '/fail': 'fail', '/wait': 'wait', '/release': 'release' });

  #end: () => void = () => {};

  fail(): void {
    throw Object.assign(new RangeError('boom'), { args: ['boom', 42] });
  }

  release(): void {
    this.#end();
  }

  async wait({ signal }: Call): Promise<void> {
    await new Promise<void>((resolve) => {
      this.#end = resolve;
      signal.addEventListener('abort', () => resolve());
    });
  }
}

export const EXECUTORS = { Probe, Searcher, Anything, Troubled };

/** Two executors in a row, the second of which handles only `/search`, and one that fails. */
export const STANDARD = `
executors:
  - { name: first, uses: Probe }
  - { name: second, uses: Searcher }
  - { name: third, uses: Troubled }
`;

export interface SeedFlow {
  /** The URL for each protocol. */
  readonly urls: Readonly<Record<string, string>>;
  /** Sends a request to the HTTP port. A body that is not a string is sent as JSON. */
  ask(method: string, place: string, body?: unknown, headers?: Record<string, string>): Promise<FlowAnswer>;
  close(): Promise<void>;
}

export interface FlowAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** The parsed JSON; `undefined` for other content types. */
  readonly body: Any;
}

/** Serves a flow file on 127.0.0.1. `gateway` contains lines for its gateway options. */
export async function startFlow(gateway: string, executors = STANDARD, stacks = true): Promise<SeedFlow> {
  const definition = parseFlow(`jtype: Flow\nwith: { host: 127.0.0.1, ${gateway} }\n${executors}`);
  const server = await serveFlow({ definition, version: '1.2.3', executors: EXECUTORS, stacks });
  const urls = Object.fromEntries(server.places.map(({ protocol, url }) => [protocol, url]));
  return {
    urls,
    async ask(method, place, body, headers = { 'content-type': 'application/json' }) {
      const answer = await fetch(urls.HTTP + place, {
        method,
        headers,
        ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
      });
      const text = await answer.text();
      const isJson = answer.headers.get('content-type')?.startsWith('application/json');
      return { status: answer.status, headers: answer.headers, text, body: isJson ? JSON.parse(text) : undefined };
    },
    close: () => server.close(1_000),
  };
}

export const HTTP = 'protocol: HTTP';

/** Posts to any endpoint and returns the response body. Throws if it reports a failure. */
export async function post(flow: SeedFlow, body: object, place = '/post'): Promise<Any> {
  const answer = await flow.ask('POST', place, body);
  expect([answer.status, answer.body?.header?.status], answer.text).toEqual([200, null]);
  return answer.body;
}

export interface Socket {
  send(frame: object): void;
  /** The next frame, parsed. */
  next(): Promise<Any>;
  close(): void;
}

/** Opens a WebSocket at `/stream`. */
export async function openStream(url: string): Promise<Socket> {
  const socket = new WebSocket(`${url.replace(/^http/, 'ws')}/stream`);
  const frames: Any[] = [];
  const waiting: ((frame: Any) => void)[] = [];
  socket.on('message', (data: Buffer) => {
    const frame = JSON.parse(data.toString());
    const taker = waiting.shift();
    if (taker) taker(frame);
    else frames.push(frame);
  });
  await once(socket, 'open');
  socket.on('error', () => {});
  return {
    send: (frame) => socket.send(JSON.stringify(frame)),
    next: () => (frames.length ? Promise.resolve(frames.shift()) : new Promise((resolve) => waiting.push(resolve))),
    close: () => socket.terminate(),
  };
}

const PEER = createPeers().today;

/** Sends one DataRequestProto to a gRPC gateway, encoded by protobufjs, and returns the decoded response. */
export async function callGrpc(url: string, request: Plain): Promise<Any> {
  const client = new grpc.Client(url.replace('grpc://', ''), grpc.credentials.createInsecure());
  const same = (bytes: Buffer) => bytes;
  const call = client.makeBidiStreamRequest('/jina.JinaRPC/Call', same, same);
  call.end(Buffer.from(PEER.encode('DataRequestProto', request)));
  const [bytes] = (await once(call, 'data')) as [Buffer];
  client.close();
  return PEER.decode('DataRequestProto', bytes);
}

/** Runs a test with a separate flow. */
export async function withFlow(
  gateway: string,
  test: (flow: SeedFlow) => Promise<void>,
  executors = STANDARD,
): Promise<void> {
  const flow = await startFlow(gateway, executors);
  try {
    await test(flow);
  } finally {
    await flow.close();
  }
}
