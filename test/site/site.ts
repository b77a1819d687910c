/**
 * A small website on loopback for tests: all kinds of pages on two origins, which browsers treat as different sites. It
 * contacts no other host. The pages are in pages/, grouped by topic.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { charsets } from './pages/charsets.ts';
import { documents } from './pages/documents.ts';
import { frames } from './pages/frames.ts';
import { hostile } from './pages/hostile.ts';
import { redirects } from './pages/redirects.ts';
import { scripted } from './pages/scripted.ts';

export interface Visited {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly url: URL;
  /** This origin and the other one, without a trailing slash. */
  readonly origin: string;
  readonly otherOrigin: string;
}

/** Responds to a request. A string is sent as an HTML page with status 200. */
export type Page = string | ((visited: Visited) => void);
export type Pages = Readonly<Record<string, Page>>;

export interface Site {
  readonly origin: string;
  /** The origin of the same pages on another site. */
  readonly otherOrigin: string;
  /** Entries that the allow list needs for the site. */
  readonly allow: readonly string[];
  /** Number of requests for a path on both origins. */
  hits(path: string): number;
  /** The headers of the last request for a path. */
  headers(path: string): IncomingMessage['headers'] | undefined;
  close(): Promise<void>;
}

const PAGES: Pages = { ...documents, ...scripted, ...frames, ...redirects, ...charsets, ...hostile };

export async function startSite(more: Pages = {}): Promise<Site> {
  const pages: Pages = { ...PAGES, ...more };
  const hits = new Map<string, number>();
  const headers = new Map<string, IncomingMessage['headers']>();
  const origins = { own: '', other: '' };
  const answer = (request: IncomingMessage, response: ServerResponse) => {
    const isOwn = `http://${request.headers.host}` === origins.own;
    const [origin, otherOrigin] = isOwn ? [origins.own, origins.other] : [origins.other, origins.own];
    const url = new URL(request.url ?? '/', origin);
    hits.set(url.pathname, (hits.get(url.pathname) ?? 0) + 1);
    headers.set(url.pathname, request.headers);
    const page = pages[url.pathname];
    response.on('error', () => {});
    if (page === undefined) sendHtml(response, '<title>Nothing here</title><h1>Nothing here</h1>', 404);
    else if (typeof page === 'string') sendHtml(response, page);
    else page({ request, response, url, origin, otherOrigin });
  };
  const [own, other] = await Promise.all([listen(answer), listen(answer)]);
  // A browser treats the IP address and the host name as different sites, so it renders their frames in separate
  // processes.
  origins.own = `http://127.0.0.1:${own.port}`;
  origins.other = `http://localhost:${other.port}`;
  return {
    origin: origins.own,
    otherOrigin: origins.other,
    allow: [`127.0.0.1:${own.port}`, `localhost:${other.port}`, `127.0.0.1:${other.port}`, `[::1]:${other.port}`],
    hits: (path) => hits.get(path) ?? 0,
    headers: (path) => headers.get(path),
    close: async () => void (await Promise.all([own.close(), other.close()])),
  };
}

export function sendHtml(response: ServerResponse, html: string, status = 200): void {
  response.writeHead(status, { 'content-type': 'text/html; charset=utf-8' }).end(html);
}

async function listen(answer: (request: IncomingMessage, response: ServerResponse) => void) {
  const server: Server = createServer(answer);
  const sockets = new Set<Socket>();
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as AddressInfo).port,
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        for (const socket of sockets) socket.destroy();
      }),
  };
}
