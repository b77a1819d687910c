/** The page at `/` for a browser: what this host is, the state of the server, links and one example. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import { escapeText } from '#html/serialize.ts';
import { isNavigation } from '#http/negotiate.ts';
import type { Face } from '#http/server.ts';
import { type Health, serverState } from '../health.ts';
import { faceOf } from '../hosts.ts';

export interface FrontPage {
  readonly title: string;
  readonly health: Pick<Health, 'ready' | 'fullDisks' | 'version' | 'browser'>;
  /** The URL of the reader as callers see it. Default: derived from the host of each request. */
  readonly publicUrl?: string | undefined;
  /** The port of the reader. */
  readonly readerPort: () => number;
  /** A command that sends a request to this host, at the given URL. */
  readonly example: (origin: string) => string;
}

/** Sends the page to browsers that open `/` without parameters. Other clients get what the host has there. */
export function serveFrontPage(face: Face, page: FrontPage): void {
  face.addHook('onRequest', async (request, reply) => {
    const { method, headers, originalUrl } = request;
    const isRoot = originalUrl === '/' && (method === 'GET' || method === 'HEAD');
    if (isRoot && isNavigation(headers.accept)) return sendFrontPage(request, reply, page);
  });
}

const POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; frame-ancestors 'none'";
const STYLE =
  'body{font:16px/1.5 system-ui,sans-serif;max-width:44rem;margin:2rem auto;padding:0 1rem;color:#223;background:#fff}pre{background:#eef1f5;padding:.8rem;overflow:auto}a{color:#1a4f8b}@media(prefers-color-scheme:dark){body{color:#dde;background:#181b20}pre{background:#262b33}a{color:#8ab8f0}}';

async function sendFrontPage(
  request: FastifyRequest,
  reply: FastifyReply,
  { title, health, publicUrl, readerPort, example }: FrontPage,
): Promise<FastifyReply> {
  const { status } = await serverState(health);
  const { available, healthy = true } = health.browser();
  const browser = !available ? 'no browser' : healthy ? 'browser ready' : 'browser restarting';
  const reader = publicUrl ? publicUrl.replace(/\/$/, '') : readerOrigin(request, readerPort());
  const link = (path: string, text: string) => `<li><a href="${escapeText(reader + path)}">${text}</a></li>`;
  return reply
    .type('text/html; charset=utf-8')
    .header('cache-control', 'private, no-cache')
    .header('content-security-policy', POLICY)
    .send(
      `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>${escapeText(title)}</title><meta name="viewport" content="width=device-width"><style>${STYLE}</style></head>
<body><main><h1>${escapeText(title)}</h1>
<p>Version ${escapeText(health.version)}. State: ${status}, ${browser}.</p>
<pre><code>${escapeText(example(originOf(request)))}</code></pre>
<ul>${link('/playground', 'Playground')}${link('/docs', 'Documentation')}<li><a href="/openapi.json">OpenAPI document of this host</a></li></ul>
</main></body></html>
`,
    );
}

const originOf = ({ protocol, host }: FastifyRequest): string => `${protocol}://${host || 'localhost'}`;

/** The first label of the host selects the API if all APIs share a port; otherwise the reader has its own port. */
function readerOrigin({ protocol, host, hostname, raw }: FastifyRequest, readerPort: number): string {
  if (raw.socket.localPort === readerPort) return '';
  if (faceOf(host) === 'reader') return `${protocol}://${hostname || 'localhost'}:${readerPort}`;
  return `${protocol}://r.${host.slice(host.indexOf('.') + 1)}`;
}
