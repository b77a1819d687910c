/**
 * Local servers of the doctor. One serves pages that may be read; the others are listeners that must never receive a
 * connection.
 */
import { createServer, get, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface Listener {
  readonly port: number;
  /** The number of connections received so far. */
  connections(): number;
  /** Opens one connection to prove that connections are counted. Otherwise, a count of zero would prove nothing. */
  countsConnections(): Promise<boolean>;
  close(): Promise<void>;
}

async function listen(server: Server, host: string, port: number): Promise<number> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(port, host, () => resolve(void server.off('error', reject)));
  });
  return (server.address() as AddressInfo).port;
}

const closed = (server: Server) =>
  new Promise<void>((resolve) => {
    server.closeAllConnections();
    server.close(() => resolve());
  });

/** Rejects if listening on this host and port fails. */
export async function openListener(host: string, port = 0): Promise<Listener> {
  let connections = 0;
  const server = createServer((_, response) => response.end('SECRET')).on('connection', () => connections++);
  const own = await listen(server, host, port);
  return {
    port: own,
    connections: () => connections,
    async countsConnections() {
      const before = connections;
      await new Promise<void>((resolve) => {
        get({ host, port: own, agent: false }, (answer) => answer.resume().once('close', resolve)).once('error', () =>
          resolve(),
        );
      });
      const isCounted = connections === before + 1;
      connections = before;
      return isCounted;
    },
    close: () => closed(server),
  };
}

export interface Pages {
  readonly origin: string;
  readonly port: number;
  close(): Promise<void>;
}

const ARTICLE = `<!doctype html><html lang="en"><head><title>A page of the doctor</title></head><body><main><h1>A page of the doctor</h1>
<p>Lectern serves this page to itself to see whether it can read one. It has a few sentences, as pages have, so that there is content to extract.</p>
<p>The result is discarded at once.</p></main></body></html>`;

const SCRIPTED = `<!doctype html><html lang="en"><head><title>A page with a script</title></head><body><main id="main"></main>
<script>document.querySelector('#main').innerHTML = '<h1>A page with a script</h1><p>' + ['Written', 'by', 'the', 'script', 'of', 'the', 'page.'].join(' ') + '</p>';</script></body></html>`;

/** After this time, the attack page reports that it is done, even if requests are still pending. */
const ATTEMPTS_TIMEOUT_MS = 2_000;

/** The different means by which a web page can send a request. Each is a script expression that requests `address`. */
export const REQUEST_KINDS = {
  fetch: "fetch(address, { mode: 'no-cors' })",
  image:
    "new Promise((done) => { const image = new Image(); image.onload = image.onerror = done; image.src = address + 'image'; })",
  script:
    "new Promise((done) => { const script = document.createElement('script'); script.onload = script.onerror = done; script.src = address + 'script'; document.body.append(script); })",
  frame:
    "new Promise((done) => { const frame = document.createElement('iframe'); frame.onload = done; frame.src = address; document.body.append(frame); })",
  socket:
    "new Promise((done) => { const socket = new WebSocket(address.replace('http', 'ws')); socket.onclose = done; })",
  beacon: "Promise.resolve(navigator.sendBeacon(address + 'beacon', 'x'))",
} as const;
export type RequestKind = keyof typeof REQUEST_KINDS;

/** A web page that requests each URL by one of the means above and then adds the element `#tried`. */
const attackPage = (
  addresses: readonly string[],
  kind: RequestKind,
) => `<!doctype html><html><head><title>Inside</title></head><body><main><p>The attempts of this page.</p></main>
<script>
const tries = ${JSON.stringify(addresses)}.map(async (address) => ${REQUEST_KINDS[kind]});
const late = new Promise((done) => setTimeout(done, ${ATTEMPTS_TIMEOUT_MS}));
Promise.race([Promise.allSettled(tries), late]).then(() => {
  const end = document.createElement('p'); end.id = 'tried'; end.textContent = 'All was tried.'; document.querySelector('main').append(end);
});
</script></body></html>`;

/** `addresses` is called when an attack page is requested. */
export async function openPages(addresses: () => readonly string[]): Promise<Pages> {
  const server = createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://doctor');
    // Without keep-alive, each read resolves the host name again.
    response.setHeader('connection', 'close');
    if (pathname === '/redirect')
      return void response.writeHead(302, { location: searchParams.get('to') ?? '/' }).end();
    const kind = searchParams.get('kind') ?? '';
    const isAttack = pathname === '/attack' && Object.hasOwn(REQUEST_KINDS, kind);
    const html = isAttack ? attackPage(addresses(), kind as RequestKind) : pathname === '/script' ? SCRIPTED : ARTICLE;
    response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' }).end(html);
  });
  const port = await listen(server, '127.0.0.1', 0);
  return { port, origin: `http://127.0.0.1:${port}`, close: () => closed(server) };
}
