/** The OpenAPI description of a gateway, generated from its route table, and the page that shows it. */
import { createHash } from 'node:crypto';
import { ownValue } from '#own-value.ts';
import type { GatewayOptions } from '../definition/definition.ts';
import { type Answer, ok } from './answer.ts';
import { INVALID_EXAMPLE, REQUEST_EXAMPLES, RESPONSE_EXAMPLES, UNAVAILABLE_EXAMPLE } from './examples.ts';
import type { Route } from './routes.ts';
import { reference, SCHEMAS } from './schemas.ts';

const TITLE = 'My Jina Service';
const DESCRIPTION = 'A flow of executors and their gateway. The options `title` and `description` replace this text.';

export interface DescriptionOptions extends Pick<GatewayOptions, 'title' | 'description' | 'token'> {
  /** Version of the interface. */
  readonly version: string;
}

const json = (schema: object, example: unknown) => ({ content: { 'application/json': { schema, example } } });
const failure = (description: string, detail: unknown) => ({
  description,
  ...json(reference('Failure'), { detail }),
});
const unavailable = (description: string) => ({
  description,
  ...json({ anyOf: [reference('UnavailableResponse'), reference('Failure')] }, UNAVAILABLE_EXAMPLE),
});

/** `/` is named root: an id must have a name. */
const operationId = ({ method, path }: Route) =>
  `${method.toLowerCase()}_${path.replace(/[^A-Za-z0-9]+/g, '_').replace(/^_|_$/g, '') || 'root'}`;

const MODE = {
  name: 'mode',
  in: 'path',
  required: true,
  description: 'In upper or lower case.',
  schema: {
    anyOf: [
      { type: 'string', enum: ['INDEX', 'SEARCH', 'DELETE', 'UPDATE', 'CONTROL', 'TRAIN'] },
      { type: 'string', pattern: '^[a-zA-Z]+$' },
    ],
  },
  example: 'SEARCH',
};

/** Failures of any request. */
const REFUSED = {
  401: failure('The token is missing or wrong', 'Not authenticated'),
  403: failure('The caller has no access', 'This flow serves only its own machine'),
};

/** Failures of a request with a body. */
const FAILED = {
  413: failure('The body is too large', [
    { loc: ['body'], msg: 'The body is larger than 67108864 bytes', type: 'value_error' },
  ]),
  422: { description: 'The request is invalid', ...json(reference('Failure'), INVALID_EXAMPLE) },
  503: unavailable('An executor is unavailable'),
  504: unavailable('An executor did not answer in time'),
};

const reason = (description: string, text: string) => ({
  description,
  ...json({ anyOf: [reference('Refusal'), reference('Failure')] }, { reason: text }),
});
const MODE_FAILURES = {
  404: failure('No executor matches the targets', 'Not Found'),
  405: reason('The mode is unknown', 'unsupported mode foo'),
  406: reason('The data or command is missing', '"data" field is empty'),
};

function createOperation(route: Route): object {
  const { requestSchema, responseSchema } = route;
  const isMode = route.path.includes('{mode}');
  return {
    operationId: operationId(route),
    summary: route.summary,
    ...(route.description && { description: route.description }),
    tags: route.tags,
    ...(route.deprecated && { deprecated: true }),
    ...(route.isPublic && { security: [] }),
    ...(isMode && { parameters: [MODE] }),
    ...(requestSchema && {
      requestBody: { required: true, ...json(reference(requestSchema), REQUEST_EXAMPLES[requestSchema]) },
    }),
    responses: {
      200: { description: 'The answer', ...json(reference(responseSchema), RESPONSE_EXAMPLES[responseSchema]) },
      ...REFUSED,
      ...(requestSchema && FAILED),
      ...(requestSchema === 'ReloadRequest' && { 404: MODE_FAILURES[404] }),
      ...(isMode && MODE_FAILURES),
      500: {
        description: 'An unexpected failure; with the option `failures_are_500`, also an executor that failed',
        ...json({ anyOf: [reference('Failure'), reference(responseSchema)] }, { detail: 'Internal server error' }),
      },
    },
  };
}

const TAGS: Readonly<Record<string, string>> = {
  Health: 'Whether the gateway answers.',
  Debug: 'Any endpoint, and the state of the flow.',
  CRUD: 'Endpoints with routes of their own.',
  Customized: 'Endpoints that the flow exposes.',
};

/** The tags of the routes, in the order of their first use. Those of exposed endpoints come from the flow. */
const tagsOf = (routes: readonly Route[]) =>
  [...new Set(routes.flatMap(({ tags }) => tags))].map((name) => {
    const description = ownValue(TAGS, name);
    return { name, ...(description && { description }) };
  });

/** Returns an OpenAPI 3.1 document. */
export function createDescription(routes: readonly Route[], facts: DescriptionOptions): object {
  const paths: Record<string, Record<string, object>> = {};
  for (const route of routes) {
    paths[route.path] ??= {};
    paths[route.path]![route.method.toLowerCase()] = createOperation(route);
  }
  return {
    openapi: '3.1.0',
    info: { title: facts.title ?? TITLE, description: facts.description ?? DESCRIPTION, version: facts.version },
    ...(facts.token && { security: [{ token: [] }] }),
    tags: tagsOf(routes),
    paths,
    components: {
      schemas: SCHEMAS,
      ...(facts.token && { securitySchemes: { token: { type: 'http', scheme: 'bearer' } } }),
    },
  };
}

const escapeHtml = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');

const STYLE =
  'body{font:16px/1.5 system-ui,sans-serif;max-width:50rem;margin:2rem auto;padding:0 1rem}code{background:#8882;padding:.1em .3em}';

function renderPage(
  routes: readonly Route[],
  { title = TITLE, description = DESCRIPTION }: DescriptionOptions,
): string {
  const rows = routes.map(
    ({ method, path, summary }) =>
      `<li><code>${escapeHtml(method)} ${escapeHtml(path)}</code> ${escapeHtml(summary)}</li>`,
  );
  return `<!doctype html><html lang="en"><meta charset="utf-8"><title>${escapeHtml(title)}</title><style>${STYLE}</style>
<h1>${escapeHtml(title)}</h1><p>${escapeHtml(description)}</p><ul>${rows.join('\n')}</ul>
<p>All fields: <a href="openapi.json">openapi.json</a></p></html>`;
}

const contentSecurityPolicy = (): string =>
  `default-src 'none'; style-src 'sha256-${createHash('sha256').update(STYLE).digest('base64')}'; base-uri 'none'; frame-ancestors 'none'`;

/** The description and its pages. They are served whatever the options. */
export function descriptionRoutes(routes: readonly Route[], facts: DescriptionOptions): Route[] {
  const description = ok(JSON.stringify(createDescription(routes, facts)));
  const html: Answer = {
    code: 200,
    body: renderPage(routes, facts),
    type: 'text/html; charset=utf-8',
    headers: { 'content-security-policy': contentSecurityPolicy() },
  };
  const fixed = (path: string, answer: Answer): Route => ({
    method: 'GET',
    path,
    tags: [],
    summary: 'This description',
    responseSchema: 'Empty',
    run: () => answer,
  });
  return [fixed('/openapi.json', description), fixed('/docs', html), fixed('/redoc', html)];
}
