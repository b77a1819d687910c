/**
 * A `fetch` for the APIs of this process, for commands and tools. Requests use the same HTTP endpoints as all others,
 * so the same rules apply. They use a socket that only the current user can open.
 */
import { randomBytes } from 'node:crypto';
import { type IncomingMessage, request } from 'node:http';
import path from 'node:path';
import { Readable } from 'node:stream';
import type { ReadableStream } from 'node:stream/web';
import { createHostServer, type HostFaces } from '#api/hosts.ts';
import { setClientIp } from '#http/client-ip.ts';
import { MAX_HEADER_BYTES } from '#http/server.ts';
import { processTemporaryFolder } from './temporary-folder.ts';

/** The URL of each API. These URLs work only with the `fetch` of this module. */
export const IN_PROCESS_URLS = {
  reader: 'http://r.localhost',
  search: 'http://s.localhost',
  models: 'http://api.localhost',
  flow: 'http://flow.localhost',
} as const;

/**
 * A header that contains the client IP on whose behalf a request is sent. It is trusted here, because only the current
 * user can open the socket.
 */
export const CLIENT_IP_HEADER = 'x-lectern-for';

export interface InProcess {
  readonly urls: typeof IN_PROCESS_URLS;
  readonly fetch: typeof fetch;
  close(): Promise<void>;
}

/** Opens the socket. The APIs must already be ready. */
export async function openInProcess(faces: HostFaces): Promise<InProcess> {
  // Socket paths are limited to about 104 bytes, and the path of the data folder may be longer.
  const { path: folder } = await processTemporaryFolder();
  const name = randomBytes(4).toString('hex');
  const socketPath = process.platform === 'win32' ? `\\\\.\\pipe\\lectern-${name}` : path.join(folder, name);
  const server = createHostServer(faces, MAX_HEADER_BYTES);
  server.prependListener('request', (request) => {
    const clientIp = request.headers[CLIENT_IP_HEADER];
    if (typeof clientIp === 'string') setClientIp(request, clientIp);
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(socketPath, () => resolve(void server.off('error', reject)));
  });
  return {
    urls: IN_PROCESS_URLS,
    fetch: (input, init) => fetchFollowing(new Request(input, init), socketPath),
    async close() {
      server.closeAllConnections();
      await new Promise((done) => server.close(done));
    },
  };
}

const REDIRECT_STATUSES = new Set([301, 302, 303]);

/** Follows one redirect, which the reader sends for a screenshot. */
async function fetchFollowing(input: Request, socketPath: string): Promise<Response> {
  const response = await fetchOnce(input, socketPath);
  const location = response.headers.get('location');
  if (input.redirect !== 'follow' || location === null || !REDIRECT_STATUSES.has(response.status)) return response;
  await response.arrayBuffer();
  const headers = new Headers(input.headers);
  headers.delete('content-type');
  return fetchOnce(new Request(new URL(location, input.url), { headers, signal: input.signal }), socketPath);
}

/**
 * Sends one request over the socket. It has no timeout of its own; the caller's signal aborts it. Uses `node:http`,
 * because the built-in `fetch` cannot use a socket path, and undici is slow to load.
 */
async function fetchOnce({ method, url, headers, body, signal }: Request, socketPath: string): Promise<Response> {
  const { host, pathname, search } = new URL(url);
  const answer = await new Promise<IncomingMessage>((resolve, reject) => {
    const outgoing = request({
      ...{ socketPath, method, path: `${pathname}${search}`, signal },
      headers: { accept: '*/*', ...Object.fromEntries(headers), host },
    });
    outgoing.once('response', resolve).on('error', (error) => reject(signal.aborted ? signal.reason : error));
    if (!body) return void outgoing.end();
    const source = Readable.fromWeb(body as ReadableStream);
    source.on('error', (error) => outgoing.destroy(error)).pipe(outgoing);
  });
  signal.addEventListener('abort', () => answer.destroy(signal.reason));
  const { statusCode: status = 0, statusMessage: statusText, rawHeaders } = answer;
  const answered = new Headers();
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) answered.append(rawHeaders[at]!, rawHeaders[at + 1]!);
  if (HAS_NO_BODY.has(status)) {
    answer.resume();
    return new Response(null, { status, statusText, headers: answered });
  }
  return new Response(Readable.toWeb(answer) as Body, { status, statusText, headers: answered });
}

type Body = ConstructorParameters<typeof Response>[0];
const HAS_NO_BODY = new Set([204, 205, 304]);
