/** A gateway and an executor as two processes: command line, metrics, traces and reloading. */

import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type Http2Server } from 'node:http2';
import type { AddressInfo } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type FlowProcess, startFlowProcess } from '../support/flow-process.ts';
import { programFile } from '../support/program.ts';

const LONG_MS = 120_000;

/** docs/reference/wire/flow.md, Metrics: the names in `/metrics` of each program. */
const summary = (name: string) => [`${name}_count`, `${name}_sum`, `${name}_created`];
const counter = (name: string) => [`${name}_total`, `${name}_created`];
const SHARED = [
  ...summary('jina_receiving_request_seconds'),
  ...counter('jina_successful_requests'),
  ...counter('jina_failed_requests'),
  ...summary('jina_received_request_bytes'),
  ...summary('jina_request_size_bytes'),
  ...summary('jina_sent_response_bytes'),
];
const ON_GATEWAY = [
  ...SHARED,
  ...summary('jina_sending_request_seconds'),
  ...summary('jina_sent_request_bytes'),
  ...summary('jina_received_response_bytes'),
  'jina_number_of_pending_requests',
];
const ON_EXECUTOR = [...SHARED, ...summary('jina_process_request_seconds'), ...counter('jina_document_processed')];

let folder: string;
let collector: Collector;
let executor: FlowProcess;
let gateway: FlowProcess;
let url: string;

const moduleText = (mark: string) => `
import { Executor } from ${JSON.stringify(flowModule)};
export class Shout extends Executor {
  static requests = { '/shout': 'shout', '/fail': 'fail', '/default': 'keep' };
  shout({ docs }) { for (const doc of docs) doc.text = doc.text.toUpperCase() + '${mark}'; }
  fail() { throw new RangeError('on purpose'); }
  keep() {}
}
`;
let flowModule: string;

/** An OTLP/gRPC collector over plain HTTP/2, which stores the messages of each service. */
interface Collector {
  readonly port: number;
  readonly messages: { readonly path: string; readonly text: string }[];
  readonly server: Http2Server;
}

async function openCollector(): Promise<Collector> {
  const messages: Collector['messages'] = [];
  const server = createServer();
  server.on('stream', (stream, headers) => {
    const chunks: Buffer[] = [];
    stream.on('data', (chunk: Buffer) => chunks.push(chunk));
    stream.on('end', () => {
      messages.push({ path: String(headers[':path']), text: Buffer.concat(chunks).toString('latin1') });
      stream.respond({ ':status': 200, 'content-type': 'application/grpc' }, { waitForTrailers: true });
      stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '0' }));
      // A message with no fields.
      stream.end(Buffer.alloc(5));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { port: (server.address() as AddressInfo).port, messages, server };
}

beforeAll(async () => {
  folder = await mkdtemp(path.join(os.tmpdir(), 'lectern-operation-'));
  flowModule = pathToFileURL(path.join(path.dirname(await programFile()), 'flow/index.js')).href;
  await writeFile(path.join(folder, 'shout.mjs'), moduleText('!'));
  collector = await openCollector();
  const telemetry = (what: string, exporter: string) => [
    `--${what}`,
    ...[`--${exporter}-exporter-host`, '127.0.0.1'],
    ...[`--${exporter}-exporter-port`, String(collector.port)],
  ];
  const watched = [
    ...['--monitoring', '--port-monitoring', '0', '--host', '127.0.0.1'],
    ...[...telemetry('tracing', 'traces'), ...telemetry('metrics', 'metrics')],
  ];
  executor = await startFlowProcess([
    ...['executor', '--uses', 'Shout', '--name', 'far', '--modules', path.join(folder, 'shout.mjs')],
    ...['--reload', ...watched],
  ]);
  const { port } = new URL(await executor.urlOf('executor far'));
  gateway = await startFlowProcess([
    ...['gateway', '--protocol', 'grpc', 'http', '--port-expose', '0', '0', ...watched],
    ...['--graph-description', '{"start-gateway": ["far"], "far": ["end-gateway"]}'],
    ...['--deployments-addresses', `{"far": ["grpc://127.0.0.1:${port}"]}`],
    ...['--title', 'My gateway', '--description', 'Shouts', '--no-debug-endpoints', '--cors', '--prefetch', '7'],
    ...['--expose-endpoints', '{"/shout": {"http_path": "/my/shout"}, "/fail": {}}'],
    ...['--uvicorn-kwargs', 'workers: 2', '--grpc-server-options', 'grpc.so_reuseport: 1'],
    ...['--uses', 'MyGateway', '--workspace', folder],
  ]);
  url = await gateway.urlOf('flow http');
}, LONG_MS);

afterAll(async () => {
  await Promise.all([gateway?.stop(), executor?.stop()]);
  collector?.server.close();
  await rm(folder, { recursive: true, force: true });
});

async function post(route: string, text: string, headers: Record<string, string> = {}) {
  const answer = await fetch(`${url}${route}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify({ data: [{ text }] }),
  });
  return { status: answer.status, body: (await answer.json()) as { data: { text: string }[] } };
}

/** Names of the series, without labels. */
async function namesAt(address: string): Promise<string[]> {
  const text = await (await fetch(address)).text();
  const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  return [...new Set(lines.map((line) => line.replace(/[{ ].*$/, '')))].sort();
}

describe('lectern gateway', () => {
  it('serves the graph with the options of its flags', async () => {
    expect((await post('/my/shout', 'hello')).body.data[0]!.text).toBe('HELLO!');
    expect((await fetch(`${url}/status`)).status).toBe(404);
    const description = (await (await fetch(`${url}/openapi.json`)).json()) as {
      info: object;
      paths: Record<string, object>;
    };
    expect(description.info).toMatchObject({ title: 'My gateway', description: 'Shouts' });
    expect(Object.keys(description.paths)).toEqual(expect.arrayContaining(['/index', '/my/shout', '/fail']));
    const answer = await fetch(url, { headers: { origin: 'http://other.example' } });
    expect(answer.headers.get('access-control-allow-origin')).toBe('*');
  });

  it('names the flags without an effect', async () => {
    await gateway.lineWith(/--workspace has no effect on a gateway alone/);
    await gateway.lineWith(/the option uses has no effect: gateways of your own are not supported/);
    await gateway.lineWith(/the argument workers has no effect/);
    await gateway.lineWith(/the gRPC option grpc\.so_reuseport has no effect/);
  });
});

it('has exactly the series of the original on each program', async () => {
  await post('/my/shout', 'hello');
  await post('/fail', 'hello');
  expect(await namesAt(await gateway.urlOf('metrics'))).toEqual(ON_GATEWAY.toSorted());
  expect(ON_GATEWAY).toHaveLength(26);
  expect(await namesAt(await executor.urlOf('metrics'))).toEqual(ON_EXECUTOR.toSorted());
  expect(ON_EXECUTOR).toHaveLength(21);
  const lines = (await (await fetch(await executor.urlOf('metrics'))).text()).split('\n');
  const labels = '{executor="Shout",runtime_name="far/rep-0",executor_endpoint="/fail"}';
  for (const name of ['jina_received_request_bytes_count', 'jina_sent_response_bytes_sum']) {
    const line = lines.find((one) => one.startsWith(`${name}${labels}`));
    expect(Number(line!.split(' ').at(-1))).toBeGreaterThan(0);
  }
});

describe('reload', () => {
  const shouted = async () => (await post('/my/shout', 'hello')).body.data[0]!.text;
  const change = (text: string) => writeFile(path.join(folder, 'shout.mjs'), text);

  it('applies a changed module, and keeps the old one if the new one is broken', { timeout: LONG_MS }, async () => {
    await change(moduleText('?'));
    await expect.poll(shouted, { timeout: 60_000 }).toBe('HELLO?');
    await change('export class Shout {');
    await executor.lineWith(/"files":"shout\.mjs".*the executor could not be reloaded; the old one stays/);
    expect(await shouted()).toBe('HELLO?');
    await change(moduleText('.'));
    await expect.poll(shouted, { timeout: 60_000 }).toBe('HELLO.');
  });
});

describe('telemetry', () => {
  const TRACE_ID = '0af7651916cd43dd8448eb211c80319c';
  const bytes = (id: string) => Buffer.from(id, 'hex').toString('latin1');
  const sent = (what: 'trace' | 'metrics', service: string, program: string) => {
    const path = `/opentelemetry.proto.collector.${what}.v1.${service}/Export`;
    return collector.messages
      .filter((one) => one.path === path && one.text.includes(program))
      .map(({ text }) => text)
      .join();
  };

  // This must be the last test, because the programs export their remaining data when they exit.
  it('sends spans and metrics of both programs to the collector', { timeout: LONG_MS }, async () => {
    const headers = { traceparent: `00-${TRACE_ID}-b7ad6b7169203331-01` };
    await post('/my/shout', 'hello', headers);
    await post('/index', 'hello', headers);
    expect(await gateway.stop()).toBe(0);
    expect(await executor.stop()).toBe(0);
    const spans = {
      'gateway/rep-0': ['/jina.JinaRPC/Call', '/jina.JinaSingleDataRequestRPC/process_single_data'],
      'far/rep-0': ['/jina.JinaSingleDataRequestRPC/process_single_data', '/shout', 'default'],
    };
    for (const [program, names] of Object.entries(spans)) {
      const text = sent('trace', 'TraceService', program);
      for (const name of names) expect(text).toContain(name);
      expect(text).toContain(bytes(TRACE_ID));
    }
    expect(sent('trace', 'TraceService', 'gateway/rep-0')).toContain(bytes('b7ad6b7169203331'));
    const ofGateway = sent('metrics', 'MetricsService', 'gateway/rep-0');
    for (const name of ['jina_sent_request_bytes', 'jina_number_of_pending_requests', 'deployment', 'address'])
      expect(ofGateway).toContain(name);
    const ofExecutor = sent('metrics', 'MetricsService', 'far/rep-0');
    for (const name of ['jina_process_request_seconds', 'jina_document_processed']) expect(ofExecutor).toContain(name);
    expect(ofGateway + ofExecutor).not.toContain('_total');
  });
});
