/**
 * A server that behaves like the model hub: commits, renamed repositories (`tests/renamed`), git blobs with ETags, and
 * large files on a CDN behind a redirect.
 */
import { createHash } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export const COMMIT = 'c0ffee00c0ffee00c0ffee00c0ffee00c0ffee00';

export interface HubFile {
  bytes: Buffer;
  /** True if the file is large: it is then on the CDN, identified by its SHA-256. */
  large: boolean;
}

export interface TestHub {
  readonly url: string;
  readonly files: Map<string, HubFile>;
  /** Method, path and range of each request. Requests to the CDN start with `cdn`. */
  readonly requests: string[];
  /** The headers of the requests, in order. */
  readonly headers: IncomingMessage['headers'][];
  /** Called before a large file is sent. The result may change the response. */
  disturb: (sent: { name: string; from: number; count: number }) => Disturbance | undefined;
  /** Destroys hanging connections. */
  cut(): void;
  close(): Promise<void>;
}

export interface Disturbance {
  /** Whether to ignore the `Range` header. */
  readonly ignoreRange?: boolean;
  readonly bytes?: Buffer;
  readonly status?: number;
  /** Number of bytes to send before the server hangs. */
  readonly hangAfter?: number;
}

const listening = (server: Server) =>
  new Promise<string>((resolve) =>
    server.listen(0, '127.0.0.1', () => resolve(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)),
  );

export async function startTestHub(repository: string): Promise<TestHub> {
  const files = new Map<string, HubFile>();
  const requests: string[] = [];
  const headers: IncomingMessage['headers'][] = [];
  const hanging = new Set<ServerResponse>();
  let count = 0;

  const record = (host: string, request: IncomingMessage) => {
    const { range } = request.headers;
    requests.push(`${host}${request.method} ${request.url}${range ? ` ${range}` : ''}`);
    headers.push(request.headers);
  };

  const cdn = createServer((request, response) => {
    record('cdn ', request);
    const name = decodeURIComponent(request.url!.slice(1).split('?')[0]!);
    const file = files.get(name)!;
    const from = Number(/^bytes=(\d+)-/.exec(request.headers.range ?? '')?.[1] ?? 0);
    const disturbance = hub.disturb({ name, from, count: count++ }) ?? {};
    send(response, file.bytes, from, disturbance, request.method === 'HEAD');
    if (disturbance.hangAfter !== undefined) hanging.add(response);
  });
  const cdnUrl = await listening(cdn);

  const server = createServer((request, response) => {
    record('', request);
    if (request.url!.startsWith('/tests/renamed/')) {
      response.writeHead(307, { location: request.url!.replace('/tests/renamed', `/${repository}`) }).end();
      return;
    }
    const match = new RegExp(`^/${repository}/resolve/([^/]+)/(.+)$`).exec(request.url!);
    const name = match?.[2] ?? '';
    const file = files.get(name);
    if (!match || !file || !['main', COMMIT].includes(match[1]!)) {
      response.writeHead(404, { 'x-error-code': 'EntryNotFound' }).end('Entry not found');
      return;
    }
    const sha256 = createHash('sha256').update(file.bytes).digest('hex');
    const common = { 'x-repo-commit': COMMIT, 'accept-ranges': 'bytes' };
    if (file.large) {
      response
        .writeHead(302, {
          ...common,
          location: `${cdnUrl}/${encodeURIComponent(name)}?signature=1`,
          'x-linked-etag': `"${sha256}"`,
          'x-linked-size': file.bytes.length,
        })
        .end();
      return;
    }
    const blob = createHash('sha1').update(`blob ${file.bytes.length}\0`).update(file.bytes).digest('hex');
    const from = Number(/^bytes=(\d+)-/.exec(request.headers.range ?? '')?.[1] ?? 0);
    for (const [key, value] of Object.entries({ ...common, etag: `"${blob}"` })) response.setHeader(key, value);
    send(response, file.bytes, from, {}, request.method === 'HEAD');
  });
  const url = await listening(server);

  const close = (one: Server) =>
    new Promise<void>((resolve) => {
      one.closeAllConnections();
      one.close(() => resolve());
    });
  const hub: TestHub = {
    url,
    files,
    requests,
    headers,
    disturb: () => undefined,
    cut() {
      for (const response of hanging) response.destroy();
      hanging.clear();
    },
    close: async () => {
      await Promise.all([close(server), close(cdn)]);
    },
  };
  return hub;
}

function send(response: ServerResponse, whole: Buffer, from: number, disturbance: Disturbance, isHead: boolean): void {
  if (disturbance.status) return void response.writeHead(disturbance.status).end();
  const isRange = from > 0 && !disturbance.ignoreRange;
  const bytes = (disturbance.bytes ?? whole).subarray(isRange ? from : 0);
  if (isRange) response.setHeader('content-range', `bytes ${from}-${whole.length - 1}/${whole.length}`);
  response.writeHead(isRange ? 206 : 200, { 'content-length': bytes.length });
  if (isHead) return void response.end();
  if (disturbance.hangAfter !== undefined) return void response.write(bytes.subarray(0, disturbance.hangAfter));
  response.end(bytes);
}
