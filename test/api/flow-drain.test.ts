/** What clients of each protocol receive while a flow shuts down, and its health state before that. */
import { once } from 'node:events';
import * as grpc from '@grpc/grpc-js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import WebSocket from 'ws';
import { createRequest, defineFlow, type FlowServer, serveFlow as serve } from '#flow/index.ts';
import { decodeRequest, decodeStatus, encodeRequest } from '#flow/proto/codec.ts';
import { createGate, type Served, serveFlow } from '../support/flow-gateway.ts';

const same = (bytes: Buffer) => bytes;
const EMPTY = Buffer.alloc(0);
const send = (url: string, body: unknown, headers: Record<string, string> = {}) =>
  fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  });

function unary(client: grpc.Client, method: string, message: Buffer = EMPTY): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    client.makeUnaryRequest(method, same, same, message, (error, value) => (error ? reject(error) : resolve(value!)));
  });
}

const SINGLE = '/jina.JinaSingleDataRequestRPC/process_single_data';
const CHECK = '/grpc.health.v1.Health/Check';
const DRY_RUN = '/jina.JinaGatewayDryRunRPC/dry_run';
const messageTo = (endpoint: string) => Buffer.from(encodeRequest(createRequest({ requestId: 'r', endpoint })));

describe('a flow that shuts down', () => {
  const { Gate, started, release } = createGate();
  let server: FlowServer;
  let client: grpc.Client;
  let url: string;
  let closed: Promise<unknown[]>;
  let running: Promise<Buffer>;
  let closing: Promise<void>;

  beforeAll(async () => {
    const definition = defineFlow({ protocol: ['HTTP', 'GRPC'], host: '127.0.0.1' })
      .add({ name: 'gate', uses: Gate })
      .definition();
    server = await serve({ definition, version: '1.2.3' });
    url = server.places[0]!.url;
    client = new grpc.Client(`127.0.0.1:${server.places[1]!.port}`, grpc.credentials.createInsecure());
    const open = new WebSocket(url.replace('http', 'ws'));
    await once(open, 'open');
    closed = once(open, 'close');
    // This request keeps all ports open, including those of the other protocols.
    running = unary(client, SINGLE, messageTo('/gate'));
    await started;
    closing = server.close(60_000);
  });
  afterAll(async () => {
    release();
    client?.close();
    await server?.close(0);
  });

  it('refuses HTTP requests with 503 and a body that clients can read', async () => {
    const answer = await send(`${url}/post`, { data: ['a'], execEndpoint: '/gate' });
    expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, '1']);
    expect(await answer.json()).toMatchObject({
      header: {
        requestId: answer.headers.get('x-request-id'),
        status: { code: 1, description: 'The gateway is shutting down', exception: { args: [], stacks: [] } },
      },
      parameters: null,
      routes: null,
      data: [],
    });
  });

  it('is alive but not ready', async () => {
    const draining = expect.objectContaining({ status: 'draining' });
    for (const [path, code, body] of [
      ['/live', 200, { status: 'ok' }],
      ['/ready', 503, draining],
      ['/health', 503, draining],
      ['/dry_run', 200, { code: 1, description: 'The gateway is shutting down', exception: null }],
    ] as const) {
      const answer = await fetch(url + path);
      expect([path, answer.status, await answer.json()]).toEqual([path, code, body]);
    }
  });

  it('closes WebSockets with 1001 and refuses new ones with 503', async () => {
    expect((await closed)[0]).toBe(1001);
    const refused = new WebSocket(url.replace('http', 'ws'));
    refused.on('error', () => {});
    const [, response] = await once(refused, 'unexpected-response');
    expect(response.statusCode).toBe(503);
  });

  it('refuses gRPC requests with UNAVAILABLE, and its health says so', async () => {
    await expect(unary(client, SINGLE, messageTo('/'))).rejects.toMatchObject({ code: grpc.status.UNAVAILABLE });
    const stream = client.makeBidiStreamRequest('/jina.JinaRPC/Call', same, same, new grpc.Metadata());
    stream.on('error', () => {});
    const ended = await new Promise<grpc.StatusObject>((resolve) => stream.on('status', resolve));
    expect(ended.code).toBe(grpc.status.UNAVAILABLE);
    expect([...(await unary(client, CHECK))]).toEqual([8, 2]);
    expect(decodeStatus(await unary(client, DRY_RUN))).toMatchObject({ code: 1 });
  });

  it('answers what was running, then closes its ports', async () => {
    release();
    expect(decodeRequest(await running).header).toMatchObject({ requestId: 'r' });
    await closing;
    await expect(fetch(`${url}/live`)).rejects.toThrow();
  });
});

describe('health', () => {
  let served: Served;
  beforeAll(async () => {
    served = await serveFlow({
      token: 'sesame',
      noDebugEndpoints: true,
      exposeEndpoints: { '/foo': { http_path: '/ready', methods: ['GET', 'POST'] } },
    });
  });
  afterAll(() => served.close());

  it('needs neither a token nor the debug endpoints', async () => {
    expect(await (await fetch(`${served.url}/live`)).json()).toEqual({ status: 'ok' });
    expect(await (await fetch(`${served.url}/health`)).json()).toEqual({
      status: 'ok',
      version: '1.2.3',
      uptimeSeconds: expect.any(Number),
      memoryMb: expect.any(Number),
    });
  });

  it('gives way to custom routes of the same path', async () => {
    expect((await fetch(`${served.url}/ready`)).status).toBe(401);
    const answer = await send(`${served.url}/ready`, { data: ['a'] }, { authorization: 'Bearer sesame' });
    expect(await answer.json()).toMatchObject({ header: { execEndpoint: '/foo' }, data: [{ text: 'a!' }] });
  });
});
