/** Tests of a served flow: the options of its servers, and its metrics ports. */
import { once } from 'node:events';
import { request } from 'node:http';
import * as grpc from '@grpc/grpc-js';
import { afterAll, beforeAll, expect, it } from 'vitest';
import WebSocket from 'ws';
import { defineFlow } from './definition/define-flow.ts';
import { EXECUTORS } from './flow.suite.ts';
import { type FlowServer, serveFlow } from './serve-flow.ts';

let server: FlowServer;
beforeAll(async () => {
  const definition = defineFlow({
    ...{ protocol: ['http', 'grpc'], host: '127.0.0.1', monitoring: true },
    uvicorn_kwargs: { timeout_keep_alive: 9, h11_max_incomplete_event_size: 2000, ws_max_size: 100 },
    grpc_server_options: { 'grpc.max_receive_message_length': 10 },
  })
    .add({ name: 'a', uses: 'Mark' })
    .add({ name: 'b', uses: 'Mark', portMonitoring: 0 })
    .definition();
  server = await serveFlow({ definition, version: '1.2.3', executors: EXECUTORS });
});
afterAll(() => server?.close(0));

const urlOf = (protocol: string) => server.places.find((place) => place.protocol === protocol)!.url;

it('applies the options of the HTTP server', async () => {
  const answer = await fetch(`${urlOf('HTTP')}/`);
  expect(answer.headers.get('keep-alive')).toBe('timeout=9');
  const long = request(urlOf('HTTP'), { headers: { 'x-long': 'x'.repeat(3000) } }).end();
  const [refused] = await once(long, 'response');
  expect(refused.statusCode).toBe(431);
  refused.resume();
  const socket = new WebSocket(urlOf('HTTP').replace('http', 'ws'));
  await once(socket, 'open');
  socket.send(JSON.stringify({ data: [{ text: 'x'.repeat(200) }] }));
  const [code] = await once(socket, 'close');
  expect(code).toBe(1009);
});

it('applies the options of the gRPC server', async () => {
  const client = new grpc.Client(new URL(urlOf('GRPC')).host, grpc.credentials.createInsecure());
  const same = (bytes: Buffer) => bytes;
  const failure = await new Promise((resolve) => {
    const path = '/jina.JinaSingleDataRequestRPC/process_single_data';
    client.makeUnaryRequest(path, same, same, Buffer.alloc(100), resolve);
  });
  client.close();
  expect(failure).toMatchObject({ code: grpc.status.RESOURCE_EXHAUSTED });
});

it('serves the metrics of all its programs', async () => {
  await fetch(`${urlOf('HTTP')}/index`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: '{"data": [{"text": "a"}]}',
  });
  expect(server.monitoringPorts).toHaveLength(1);
  const text = await (await fetch(`http://127.0.0.1:${server.monitoringPorts[0]}/metrics`)).text();
  for (const name of ['gateway/rep-0', 'a/rep-0', 'b/rep-0'])
    expect(text).toContain(`jina_successful_requests_total{runtime_name="${name}"} 1.0`);
});
