/** A small page of links, for people who open the search in a browser. It has no scripts. */
import type { FastifyReply } from 'fastify';
import { escapeText } from '#html/serialize.ts';
import type { Answer } from '#search/index.ts';

export function sendHtmlPage(reply: FastifyReply, query: string, { results }: Answer): FastifyReply {
  const items = results
    .filter(({ url }) => /^https?:/i.test(url))
    .map(
      ({ url, title, description }) =>
        `<li><a rel="noreferrer" href="${escapeText(url).replaceAll('"', '&quot;')}">${escapeText(title || url)}</a><p>${escapeText(description ?? '')}</p></li>`,
    );
  return reply
    .type('text/html; charset=utf-8')
    .header(
      'content-security-policy',
      "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; frame-ancestors 'none'",
    )
    .send(
      `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>${escapeText(query)}</title></head><body><h1>${escapeText(query)}</h1><ol>${items.join('\n')}</ol></body></html>\n`,
    );
}
