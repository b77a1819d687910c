/** Serves the OpenAPI document of a host, and an HTML page that lists its options and failures. */
import { PROBLEMS } from '#errors.ts';
import { escapeText } from '#html/serialize.ts';
import { sendTagged } from '#http/etag.ts';
import { type DescribedOption, describe, headerTitle } from '#http/openapi.ts';
import type { Face } from '#http/server.ts';

/**
 * The document and the page are generated when they are first requested, because loading the schemas would slow down
 * every start.
 */
interface Description {
  readonly description: () => object;
  /** The HTML page. */
  readonly page: () => string;
  /** The path at which the HTML page is served. */
  readonly at: string;
}

/** Adds `/openapi.json` and the HTML page. */
export function serveDescription(face: Face, { description, page, at }: Description): void {
  let json: string | undefined;
  face.get('/openapi.json', async (request, reply) => {
    json ??= JSON.stringify(description());
    return sendTagged(request, reply.type('application/json; charset=utf-8').header('cache-control', 'no-cache'), json);
  });
  face.get(at, async (request, reply) => {
    reply
      .type('text/html; charset=utf-8')
      .header('cache-control', 'no-cache')
      .header(
        'content-security-policy',
        "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; frame-ancestors 'none'",
      );
    return sendTagged(request, reply, page());
  });
}

const prose = (value: string) => escapeText(value).replace(/`([^`]+)`/g, '<code>$1</code>');

interface DocsPage {
  readonly title: string;
  /** Introduction, as HTML. */
  readonly intro: string;
  readonly table: Readonly<Record<string, DescribedOption>>;
}

/** An HTML page, without scripts, that lists every option and every failure. */
export function docsPage({ title, intro, table }: DocsPage): string {
  const options = Object.entries(table).map(
    ([name, option]) =>
      `<tr id="${name}"><td><code>${name}</code></td><td>${option.headers.map((header) => `<code>${headerTitle(header)}</code>`).join('<br>')}</td><td>${prose(describe(option))}</td></tr>`,
  );
  const failures = Object.entries(PROBLEMS).map(
    ([name, { code, status, message }]) =>
      `<tr><td>${code}</td><td>${status}</td><td><code>${name}</code></td><td>${prose(message)}</td></tr>`,
  );
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>${escapeText(title)}</title><meta name="viewport" content="width=device-width">
<style>body{font:16px/1.5 system-ui,sans-serif;max-width:70rem;margin:2rem auto;padding:0 1rem;color:#223}table{border-collapse:collapse;width:100%}td,th{border-bottom:1px solid #ccd;padding:.4rem .6rem;text-align:left;vertical-align:top}code,pre{background:#eef1f5;border-radius:3px;padding:.1rem .3rem}pre{padding:.8rem;overflow:auto}</style></head>
<body><h1>${escapeText(title)}</h1>
${intro}
<p>The machine-readable description is <a href="/openapi.json">openapi.json</a>.</p>
<h2>Options</h2><table><thead><tr><th>Option</th><th>Header</th><th>Meaning</th></tr></thead><tbody>
${options.join('\n')}
</tbody></table>
<h2>Failures</h2><table><thead><tr><th>HTTP</th><th>status</th><th>Name</th><th>Meaning</th></tr></thead><tbody>
${failures.join('\n')}
</tbody></table></body></html>
`;
}
