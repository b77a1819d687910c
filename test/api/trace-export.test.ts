/** Exports traces to an OpenTelemetry collector, which is a small server of this test. */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { startServer, type TestServer } from '../support/server.ts';

interface Span {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly kind: number;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly attributes: { readonly key: string; readonly value: Record<string, unknown> }[];
  readonly status: { readonly code: number };
}
interface Sent {
  readonly resourceSpans: {
    readonly resource: { readonly attributes: Span['attributes'] };
    readonly scopeSpans: { readonly spans: Span[] }[];
  }[];
}

const SERVER_KIND = 2;
const PAGE =
  '<html><body><article><h1>Exported</h1><p>Some words of a page, enough to be read.</p></article></body></html>';

let collector: Server;
let server: TestServer | undefined;
let collectorUrl: string;
let sent: Sent[] = [];
let seen: { path: string | undefined; authorization: string | undefined }[] = [];

beforeAll(async () => {
  collector = createServer(async (request, response) => {
    seen.push({ path: request.url, authorization: request.headers.authorization });
    sent.push((await json(request)) as Sent);
    response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
  });
  await new Promise<void>((resolve) => collector.listen(0, '127.0.0.1', resolve));
  collectorUrl = `http://127.0.0.1:${(collector.address() as AddressInfo).port}`;
});
afterAll(() => void collector.close());
beforeEach(() => {
  sent = [];
  seen = [];
});

const start = async (settings: Record<string, unknown> = {}) => {
  server = await startServer({ otlpUrl: collectorUrl, browser: 'none', ...settings });
  return server;
};

/** Closes the server and returns all exported spans. */
async function exported(): Promise<Span[]> {
  await server?.close();
  return sent.flatMap(({ resourceSpans }) =>
    resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap(({ spans }) => spans)),
  );
}

const read = (headers: Record<string, string> = {}) =>
  fetch(server!.reader, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'application/json', ...headers },
    body: JSON.stringify({ html: PAGE, url: 'https://a-secret-host.test/a-secret-path' }),
  });

const attribute = ({ attributes }: Pick<Span, 'attributes'>, name: string) =>
  Object.values(attributes.find(({ key }) => key === name)?.value ?? {})[0];

it('gets a span for each request, with child spans for its steps', async () => {
  await start({ otlpHeaders: { authorization: 'Bearer collector' }, otlpService: 'reading-room' });
  const answer = await (await read()).json();
  expect(answer).not.toHaveProperty('meta.trace');
  const traced = (await (await read({ 'x-trace': 'true' })).json()) as { meta: { trace: { id: string } } };
  await fetch(`${server!.reader}/http://127.0.0.1:1/`);
  await fetch(`${server!.urls.model}/v1/models`);
  const spans = await exported();
  expect(seen[0]).toEqual({ path: '/v1/traces', authorization: 'Bearer collector' });
  const { resource } = sent[0]!.resourceSpans[0]!;
  expect(attribute(resource, 'service.name')).toBe('reading-room');
  const roots = spans.filter(({ parentSpanId }) => !parentSpanId);
  expect(roots.map(({ name, kind }) => [name, kind])).toEqual(
    expect.arrayContaining([
      ['POST /', SERVER_KIND],
      ['GET /*', SERVER_KIND],
      ['GET /v1/models', SERVER_KIND],
    ]),
  );
  const [root, shown] = roots.filter(({ name }) => name === 'POST /') as [Span, Span];
  // The caller received the id of the exported trace.
  expect(shown.traceId).toBe(traced.meta.trace.id);
  expect(attribute(root, 'http.response.status_code')).toBe(200);
  expect(attribute(root, 'lectern.face')).toBe('reader');
  expect(Number(attribute(root, 'lectern.tokens'))).toBeGreaterThan(0);
  const steps = spans.filter(({ parentSpanId }) => parentSpanId === root.spanId);
  expect(steps.map(({ name }) => name)).toEqual(expect.arrayContaining(['key_check', 'parse', 'extract', 'markdown']));
  for (const { traceId, startTimeUnixNano, endTimeUnixNano } of steps) {
    expect(traceId).toBe(root.traceId);
    // One millisecond of tolerance, because each thread has its own clock.
    expect(BigInt(startTimeUnixNano)).toBeGreaterThanOrEqual(BigInt(root.startTimeUnixNano) - 1_000_000n);
    expect(BigInt(endTimeUnixNano)).toBeLessThanOrEqual(BigInt(root.endTimeUnixNano) + 1_000_000n);
  }
  expect(JSON.stringify(spans)).not.toMatch(/secret|127\.0\.0\.1/);
});

it('adds requests to the trace of their caller and obeys its sampling decision', async () => {
  await start({ otlpSampleRatio: 0 });
  const traceId = '0af7651916cd43dd8448eb211c80319c';
  await read({ traceparent: `00-${traceId}-b7ad6b7169203331-01` });
  await read({ traceparent: '00-1af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00' });
  await read();
  const spans = await exported();
  const roots = spans.filter(({ name }) => name === 'POST /');
  expect(roots.map(({ traceId, parentSpanId }) => [traceId, parentSpanId])).toEqual([[traceId, 'b7ad6b7169203331']]);
});

it('delays no request while it is away', async () => {
  await start({ otlpUrl: 'http://127.0.0.1:1' });
  expect((await read()).status).toBe(200);
  await server!.close();
});

it('is rejected outside of the region', async () => {
  await expect(start({ region: 'eu' })).rejects.toThrow('otlpUrl: its host is not in euHosts');
  const flow = '{"jtype": "Flow", "with": {"tracing": true, "traces_exporter_host": "far.example"}}';
  const settings = { region: 'eu', otlpUrl: undefined, flow };
  await expect(start(settings)).rejects.toThrow('flow: the collector far.example:4317 is not in euHosts');
});
