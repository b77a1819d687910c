/** The page at `/docs`: the routes of the dialects, with the fields of their requests. */
import type { FastifyReply } from 'fastify';
import { escapeText } from '#html/serialize.ts';
import { sendTagged } from '#http/etag.ts';
import { jsonSchema } from '#http/openapi.ts';
import type { CompatCall, CompatRoute, Dialect } from '../dialect.ts';
import { operationsOf } from './openapi.ts';

/** `prefix` is the path of the OpenAPI document, without its file name. */
export function sendDocsPage(
  { request, reply }: CompatCall,
  dialects: readonly Dialect[],
  prefix: string,
): FastifyReply {
  reply
    .type('text/html; charset=utf-8')
    .header(
      'content-security-policy',
      "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; frame-ancestors 'none'",
    )
    .header('cache-control', 'no-cache');
  return sendTagged(
    request,
    reply,
    `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Lectern for other clients</title><meta name="viewport" content="width=device-width">
<style>body{font:16px/1.5 system-ui,sans-serif;max-width:70rem;margin:2rem auto;padding:0 1rem;color:#223}table{border-collapse:collapse;width:100%}td{border-bottom:1px solid #ccd;padding:.3rem .6rem;vertical-align:top}code{background:#eef1f5;border-radius:3px;padding:.1rem .3rem}</style></head>
<body><h1>Lectern for other clients</h1>
<p>The machine-readable description is <a href="${prefix}/openapi.json">openapi.json</a>.</p>
${dialects.map(dialectSection).join('\n')}
</body></html>
`,
  );
}

function dialectSection(dialect: Dialect): string {
  const routes = operationsOf(dialect).map(({ method, route }) => routeSection(route, method));
  return `<h2 id="${dialect.name}">${escapeText(dialect.title)}</h2>
<p>At the root, and under <code>/for/${dialect.name}</code> (<a href="/for/${dialect.name}/openapi.json">openapi.json</a>).</p>
${routes.join('\n')}`;
}

function routeSection(route: CompatRoute, method: string): string {
  const rows = fieldsOf(route).map(
    ([name, description]) => `<tr><td><code>${escapeText(name)}</code></td><td>${prose(description)}</td></tr>`,
  );
  const table = rows.length > 0 ? `<table><tbody>${rows.join('')}</tbody></table>` : '';
  return `<h3><code>${method} ${escapeText(route.url)}</code></h3><p>${prose(route.summary)}</p>${table}`;
}

function fieldsOf({ fields }: CompatRoute): [name: string, description: string][] {
  if (!fields) return [];
  const { properties = {} } = jsonSchema(fields) as { properties?: Record<string, { description?: string }> };
  return Object.entries(properties).map(([name, { description = '' }]) => [name, description]);
}

const prose = (value: string) => escapeText(value).replace(/`([^`]+)`/g, '<code>$1</code>');
