/**
 * The faces of this process behind a `fetch`: commands and tools that run beside them speak the same HTTP as everybody
 * else, over a socket that nobody but this user can open, so each rule of the doors holds for them too.
 */
import { randomBytes } from 'node:crypto';
import { type IncomingMessage, request } from 'node:http';
import path from 'node:path';
import { Readable } from 'node:stream';
import type { ReadableStream } from 'node:stream/web';
import { createHostServer, type HostFaces } from '#api/hosts.ts';
import { setClientIp } from '#http/client-ip.ts';
import { MAX_HEADER_BYTES } from '#http/server.ts';
import { ownTemporary } from './own-temporary.ts';

/** Where each face is for `fetch`; outside of it these names mean nothing. */
export const IN_PROCESS_URLS = {
  reader: 'http://r.localhost',
  search: 'http://s.localhost',
  models: 'http://api.localhost',
  flow: 'http://flow.localhost',
} as const;

/** Names the address of whom a request is for. It is believed here, since nobody else can open the socket. */
export const FOR_HEADER = 'x-lectern-for';

export interface InProcess {
  readonly urls: typeof IN_PROCESS_URLS;
  readonly fetch: typeof fetch;
  close(): Promise<void>;
}

/** Opens the socket; the faces must be ready. */
export async function openInProcess(faces: HostFaces): Promise<InProcess> {
  // Paths of sockets may be 104 bytes long at most, which a data folder may use up.
  const { path: folder } = await ownTemporary();
  const name = randomBytes(4).toString('hex');
  const socketPath = process.platform === 'win32' ? `\\\\.\\pipe\\lectern-${name}` : path.join(folder, name);
  const server = createHostServer(faces, MAX_HEADER_BYTES);
  server.prependListener('request', (request) => {
    const address = request.headers[FOR_HEADER];
    if (typeof address === 'string') setClientIp(request, address);
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(socketPath, () => resolve(void server.off('error', reject)));
  });
  return {
    urls: IN_PROCESS_URLS,
    fetch: (input, init) => askAndFollow(new Request(input, init), socketPath),
    async close() {
      server.closeAllConnections();
      await new Promise((done) => server.close(done));
    },
  };
}

const REDIRECTS = new Set([301, 302, 303]);

/** A picture is where the answer to a read says; nothing else here is somewhere else. */
async function askAndFollow(asked: Request, socketPath: string): Promise<Response> {
  const answer = await ask(asked, socketPath);
  const place = answer.headers.get('location');
  if (asked.redirect !== 'follow' || place === null || !REDIRECTS.has(answer.status)) return answer;
  await answer.arrayBuffer();
  const headers = new Headers(asked.headers);
  headers.delete('content-type');
  return ask(new Request(new URL(place, asked.url), { headers, signal: asked.signal }), socketPath);
}

/**
 * One request over the socket. A read takes as long as it takes: who waits for it says for how long. The platform's own
 * fetch knows no sockets of this kind, and the package that does is slow to load.
 */
async function ask({ method, url, headers, body, signal }: Request, socketPath: string): Promise<Response> {
  const { host, pathname, search } = new URL(url);
  const answer = await new Promise<IncomingMessage>((resolve, reject) => {
    const asked = request({
      ...{ socketPath, method, path: `${pathname}${search}`, signal },
      headers: { accept: '*/*', ...Object.fromEntries(headers), host },
    });
    asked.once('response', resolve).on('error', (error) => reject(signal.aborted ? signal.reason : error));
    if (!body) return void asked.end();
    const source = Readable.fromWeb(body as ReadableStream);
    source.on('error', (error) => asked.destroy(error)).pipe(asked);
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
