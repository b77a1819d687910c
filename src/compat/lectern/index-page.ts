/** The page at `/`, for people who open the origin in a browser. */
import type { FastifyReply } from 'fastify';
import { escapeText } from '#html/serialize.ts';
import type { Dialect } from '../dialect.ts';

export function sendIndexPage(reply: FastifyReply, dialects: readonly Dialect[], origin: string): FastifyReply {
  const rows = dialects.map(({ name, title, routes }) => {
    const urls = [...new Set(routes.map(({ url }) => url))].map((url) => `<code>${escapeText(url)}</code>`).join(' ');
    return `<tr><td>${escapeText(title)}</td><td>${urls}</td><td><code>/for/${name}</code></td></tr>`;
  });
  return reply
    .type('text/html; charset=utf-8')
    .header(
      'content-security-policy',
      "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; frame-ancestors 'none'",
    )
    .send(
      `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Lectern for other clients</title></head><body><h1>Lectern for other clients</h1>
<p>The fields of each route are at <a href="/docs">/docs</a>. Set <code>${escapeText(origin)}</code> as the base URL of a client of one of these products.</p>
<table><thead><tr><th>Product</th><th>Paths</th><th>Prefix</th></tr></thead><tbody>${rows.join('\n')}</tbody></table></body></html>\n`,
    );
}
