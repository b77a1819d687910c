/**
 * The page at `/docs`: every gateway route with a form that sends a request, and the fields of all bodies. It loads
 * nothing from other hosts. Its script and style sheet are files of the package.
 */
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { type Answer, tagged } from './answer.ts';
import type { RequestSchema, Route } from './routes.ts';
import { publishedName } from './schemas.ts';

export interface DocsPageInput {
  readonly title: string;
  readonly description: string;
  readonly routes: readonly Route[];
  /** Whether requests need a token. */
  readonly needsToken: boolean;
  /** JSON schemas of the bodies by name. */
  readonly schemas: Readonly<Record<string, object>>;
}

/** The relative path is the same from src and from dist. */
const FOLDER = new URL('../../../assets/flow-page/', import.meta.url);

/** The request that a form shows at first. */
const EXAMPLES: Readonly<Record<RequestSchema, object>> = {
  DataRequest: { data: [{ text: 'hello' }], parameters: {} },
  EndpointRequest: { data: [{ text: 'hello' }], execEndpoint: '/search', parameters: {} },
  OldRequest: { data: ['hello'] },
  ModeRequest: { data: ['hello'] },
  ReloadRequest: { targets: ['executor0'] },
};

const escapeHtml = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');

const codeOf = (text: string): string => `<code>${escapeHtml(text)}</code>`;
/** Text with code between backticks. */
const proseOf = (text: string): string => escapeHtml(text).replace(/`([^`]+)`/g, '<code>$1</code>');

function formOf({ method, path, requestSchema }: Route, id: string): string {
  const mode = path.includes('{mode}')
    ? `<label for="${id}-mode">mode</label><input id="${id}-mode" name="mode" value="search" spellcheck="false">`
    : '';
  const example = requestSchema && JSON.stringify(EXAMPLES[requestSchema], undefined, 2);
  const body = example
    ? `<label for="${id}-body">Body (${publishedName(requestSchema!)})</label><textarea id="${id}-body" name="body" rows="${example.split('\n').length + 1}" spellcheck="false">${escapeHtml(example)}</textarea>`
    : '';
  return `<form data-method="${escapeHtml(method)}" data-path="${escapeHtml(path)}">${mode}${body}<button>Send</button>
<div class="result" hidden><p class="status" role="status"></p><pre class="answer" tabindex="0" aria-label="Answer"></pre><pre class="command" tabindex="0" aria-label="The same request as a command"></pre></div></form>`;
}

function routeSection(route: Route, at: number): string {
  const { method, path, summary, description } = route;
  const more = description ? `<p>${proseOf(description)}</p>` : '';
  return `<details><summary>${codeOf(`${method} ${path}`)} ${escapeHtml(summary)}</summary>${more}${formOf(route, `route-${at}`)}</details>`;
}

interface Schema {
  readonly type?: string;
  readonly description?: string;
  readonly $ref?: string;
  readonly anyOf?: readonly Schema[];
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: Schema;
}

/** A schema in a few words, such as `list of Document or null`. */
function typeText({ type, $ref, anyOf, items, properties, additionalProperties }: Schema): string {
  if ($ref) return $ref.slice($ref.lastIndexOf('/') + 1);
  if (anyOf) return anyOf.map(typeText).join(' or ');
  if (items) return `list of ${typeText(items)}`;
  if (additionalProperties) return `object of ${typeText(additionalProperties)}`;
  if (properties) return `object {${Object.keys(properties).join(', ')}}`;
  return type === 'array' ? 'list' : (type ?? 'any');
}

function schemaSection(name: string, { properties }: Schema): string {
  const rows = Object.entries(properties ?? {}).map(([field, schema]) => {
    const note = schema.description ?? schema.anyOf?.find(({ description }) => description)?.description ?? '';
    return `<tr><td>${codeOf(field)}</td><td>${escapeHtml(typeText(schema))}</td><td>${proseOf(note)}</td></tr>`;
  });
  return `<details><summary>${codeOf(name)}</summary><table>${rows.join('\n')}</table></details>`;
}

function renderPage({ title, description, routes, needsToken, schemas }: DocsPageInput, script: string, style: string) {
  const token = needsToken
    ? '<label for="token">Token</label><input id="token" type="password" autocomplete="off" spellcheck="false">'
    : '';
  const sections = routes.map((route, at) => ({ route, html: routeSection(route, at) }));
  const htmlOf = (hasBody: boolean): string =>
    sections.flatMap(({ route, html }) => ((route.requestSchema !== undefined) === hasBody ? [html] : [])).join('\n');
  const described = Object.entries(schemas as Record<string, Schema>).filter(([, { properties }]) => properties);
  return `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${escapeHtml(title)}</title><style>${style}</style></head>
<body><h1>${escapeHtml(title)}</h1><p>${proseOf(description)}</p>${token}
<h2>Requests</h2>${htmlOf(true)}
<h2>State</h2>${htmlOf(false)}
<h2>Fields</h2>${described.map(([name, schema]) => schemaSection(name, schema)).join('\n')}
<p>For programs: <a href="openapi.json">openapi.json</a></p><script>${script}</script></body></html>`;
}

const digestOf = (text: string): string => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;

/** The response is the same for every request; the files are read only for the first request. */
export function createDocsPage(input: DocsPageInput): () => Promise<Answer> {
  let page: Promise<Answer> | undefined;
  async function create(): Promise<Answer> {
    const [script, style] = await Promise.all(
      ['page.js', 'page.css'].map((name) => readFile(new URL(name, FOLDER), 'utf8')),
    );
    return tagged({
      code: 200,
      body: renderPage(input, script!, style!),
      type: 'text/html; charset=utf-8',
      headers: {
        'content-security-policy': `default-src 'none'; script-src ${digestOf(script!)}; style-src ${digestOf(style!)}; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
      },
    });
  }
  return () => {
    page ??= create().catch((error: unknown) => {
      page = undefined;
      throw error;
    });
    return page;
  };
}
