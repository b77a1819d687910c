/** The hosts that callers and settings name in this network. All of them are on loopback. */
import { readFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { CERTIFICATE, KEY } from '#net/proxy.suite.ts';

export const HOSTS = {
  pages: 'pages.egress.test',
  secure: 'secure.egress.test',
  pictures: 'pictures.egress.test',
  search: 'search.egress.test',
  traces: 'traces.egress.test',
  hooks: 'hooks.egress.test',
} as const;

export interface Sites {
  /** The origin of a host. */
  at(host: string): string;
  /** Resolves once a host has received a request. */
  heard(host: string): Promise<void>;
  close(): Promise<void>;
}

const TYPES: Readonly<Record<string, string>> = {
  '.pdf': 'application/pdf',
  '.docx': 'application/vnd.openxmlformats-officedocument.wordprocessingml.document',
  '.doc': 'application/msword',
  '.png': 'image/png',
};

const sentence = 'Clay is dug in spring, when the ground is soft, and is left to rest until the autumn. ';
const page = (title: string, more: string) =>
  `<!doctype html><html lang="en"><head><title>${title}</title><link rel="dns-prefetch" href="//prefetched.egress.test">
</head><body><main><h1>${title}</h1><p>${sentence.repeat(6)}</p>${more}</main></body></html>`;

export async function startSites(folder: string): Promise<Sites> {
  const asked = new Set<string>();
  const waiting: (() => void)[] = [];
  const origin = (host: string) => {
    const [scheme, at] = host === HOSTS.secure ? ['https', secure] : ['http', server];
    return `${scheme}://${host}:${(at.address() as AddressInfo).port}`;
  };
  const pages: Readonly<Record<string, () => string>> = {
    '/': () => page('Clay', '<a href="/second">More</a>'),
    '/second': () => page('More clay', `${sentence} Twice.`),
    '/scripted': () =>
      page(
        'Scripts',
        `<img src="${origin(HOSTS.pictures)}/scan.png"><p id="out"></p>
<script>document.querySelector('#out').textContent = 'Written' + ' by a script.';</script>`,
      ),
  };
  const answer = (request: IncomingMessage, response: ServerResponse) => {
    const [host = ''] = (request.headers.host ?? '').split(':');
    asked.add(host);
    for (const wake of waiting.splice(0)) wake();
    request.resume();
    const { pathname } = new URL(request.url ?? '/', 'http://any');
    const type = TYPES[path.extname(pathname)];
    if (host === HOSTS.search) {
      const results = [{ title: 'Clay', url: `${origin(HOSTS.pages)}/`, content: 'Of clay.' }];
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ results }));
    } else if (type) {
      response.writeHead(200, { 'content-type': type }).end(readFileSync(path.join(folder, path.basename(pathname))));
    } else if (request.method === 'POST') {
      response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
    } else {
      const html = pages[pathname]?.();
      response
        .writeHead(html === undefined ? 404 : 200, { 'content-type': 'text/html; charset=utf-8' })
        .end(html ?? 'Nothing here');
    }
  };
  const server = createServer(answer);
  const secure = createSecureServer({ key: KEY, cert: CERTIFICATE }, answer);
  const both = [server, secure];
  for (const one of both) await new Promise<void>((resolve) => one.listen(0, '127.0.0.1', resolve));
  return {
    at: origin,
    async heard(host) {
      while (!asked.has(host)) await new Promise<void>((resolve) => waiting.push(resolve));
    },
    async close() {
      for (const one of both) {
        one.close();
        one.closeAllConnections();
      }
    },
  };
}
