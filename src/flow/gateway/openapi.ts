/** The OpenAPI description of a gateway, generated from its route table, and the page that shows it. */
import { ownValue } from '#own-value.ts';
import type { GatewayOptions } from '../definition/definition.ts';
import { ok, tagged } from './answer.ts';
import { createDocsPage } from './docs-page.ts';
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

/** The id of `/` contains `root`, because an id cannot be empty. */
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

const DRAINING = { description: 'The gateway is shutting down', ...json(reference('Health'), { status: 'draining' }) };

/** Failures of a request with a body. */
const FAILED = {
  413: failure('The body is too large', [
    { loc: ['body'], msg: 'The body is larger than 67108864 bytes', type: 'value_error' },
  ]),
  422: { description: 'The request is invalid', ...json(reference('Failure'), INVALID_EXAMPLE) },
  503: unavailable('An executor is unavailable'),
  504: unavailable('An executor did not respond in time'),
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
      200: { description: 'The response', ...json(reference(responseSchema), RESPONSE_EXAMPLES[responseSchema]) },
      ...REFUSED,
      ...(requestSchema && FAILED),
      ...(requestSchema === 'ReloadRequest' && { 404: MODE_FAILURES[404] }),
      ...(isMode && MODE_FAILURES),
      ...(responseSchema === 'Health' && { 503: DRAINING }),
      500: {
        description: 'An unexpected failure; with the `failures_are_500` option, also an executor that failed',
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

/**
 * The routes of the description and its page. They are always served and need no token: the page itself prompts for the
 * token.
 */
export function descriptionRoutes(routes: readonly Route[], facts: DescriptionOptions): Route[] {
  const description = tagged(ok(JSON.stringify(createDescription(routes, facts))));
  const page = createDocsPage({
    title: facts.title ?? TITLE,
    description: facts.description ?? DESCRIPTION,
    routes,
    needsToken: facts.token !== undefined,
    schemas: SCHEMAS,
  });
  const route = (path: string, run: Route['run']): Route => ({
    method: 'GET',
    path,
    tags: [],
    summary: 'This description',
    responseSchema: 'Empty',
    isPublic: true,
    run,
  });
  return [route('/openapi.json', () => description), route('/docs', page), route('/redoc', page)];
}
