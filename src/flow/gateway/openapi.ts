/** The OpenAPI description of a gateway, generated from its route table, and the page that shows it. */
import type { GatewayOptions } from '../definition/definition.ts';
import { ok } from './answer.ts';
import { createDocsPage } from './docs-page.ts';
import type { RequestSchema, ResponseSchema, Route } from './routes.ts';

const TITLE = 'My Jina Service';
const DESCRIPTION = 'A flow of executors and their gateway. The options `title` and `description` replace this text.';

export interface DescriptionOptions extends Pick<GatewayOptions, 'title' | 'description' | 'restApiVersion' | 'token'> {
  readonly version: string;
}

const reference = (name: string) => ({ $ref: `#/components/schemas/${name}` });
const json = (name: string) => ({ content: { 'application/json': { schema: reference(name) } } });
const orNull = (schema: object) => ({ anyOf: [schema, { type: 'null' }] });
const list = (items: object) => ({ type: 'array', items });
const object = (properties: Record<string, object>, required: readonly string[] = []) => ({
  type: 'object',
  properties,
  ...(required.length && { required }),
});

const TEXT = { type: 'string' };
const NUMBER = { type: 'number' };
const COUNT = { type: 'integer', minimum: 0 };
const ANY_OBJECT = { type: 'object' };
const TIME = { type: 'string', format: 'date-time' };
const NUMBERS = { description: 'Numbers or booleans, evenly nested to any depth', type: 'array' };

const DOCUMENT_FIELDS: Record<string, object> = {
  id: { ...TEXT, description: 'Generated if missing' },
  parent_id: { ...TEXT, description: 'The document that this one is a chunk of' },
  granularity: { ...COUNT, description: 'Depth in the tree of chunks' },
  adjacency: { ...COUNT, description: 'Distance in the tree of matches' },
  blob: { ...TEXT, contentEncoding: 'base64' },
  tensor: NUMBERS,
  mime_type: TEXT,
  text: TEXT,
  weight: NUMBER,
  uri: TEXT,
  tags: ANY_OBJECT,
  offset: NUMBER,
  location: list(NUMBER),
  embedding: NUMBERS,
  modality: TEXT,
  evaluations: { type: 'object', additionalProperties: reference('Score') },
  scores: { type: 'object', additionalProperties: reference('Score') },
  chunks: list(reference('Document')),
  matches: list(reference('Document')),
};

const nullable = (fields: Record<string, object>) =>
  Object.fromEntries(Object.entries(fields).map(([name, schema]) => [name, orNull(schema)]));

const DATA = {
  description: 'Documents, or an object with documents in `docs`',
  anyOf: [list(reference('Document')), object({ docs: list(reference('Document')) }, ['docs']), { type: 'null' }],
};

const REQUEST_FIELDS = {
  data: DATA,
  targetExecutor: orNull({ ...TEXT, description: 'A regular expression for the start of executor names' }),
  parameters: orNull({ ...ANY_OBJECT, description: '`NAME__key` is passed only to the executor NAME' }),
};

const OLD_DATA = { ...DATA, anyOf: [list({ anyOf: [reference('Document'), TEXT] }), TEXT] };

const SCHEMAS: Record<string, object> = {
  Document: object(nullable(DOCUMENT_FIELDS)),
  Score: object(nullable({ value: NUMBER, op_name: TEXT, description: TEXT, ref_id: TEXT })),
  DataRequest: object(REQUEST_FIELDS),
  EndpointRequest: object({ ...REQUEST_FIELDS, execEndpoint: { ...TEXT, default: '/' } }),
  OldRequest: object(
    {
      data: OLD_DATA,
      request_size: { type: 'integer', minimum: 1 },
      mime_type: TEXT,
      queryset: list(ANY_OBJECT),
      top_k: COUNT,
    },
    ['data'],
  ),
  ReloadRequest: object({ targets: { anyOf: [TEXT, list(TEXT)] } }, ['targets']),
  Exception: object({ name: TEXT, args: list(TEXT), stacks: list(TEXT), executor: TEXT }),
  Status: object({
    code: { type: 'integer', enum: [0, 1], description: '0 success, 1 error' },
    description: TEXT,
    exception: orNull(reference('Exception')),
  }),
  Header: object({
    requestId: TEXT,
    status: orNull(reference('Status')),
    execEndpoint: TEXT,
    targetExecutor: TEXT,
  }),
  Route: object({
    executor: TEXT,
    startTime: orNull(TIME),
    endTime: orNull(TIME),
    status: orNull(reference('Status')),
  }),
  DataResponse: object({
    header: reference('Header'),
    parameters: orNull(ANY_OBJECT),
    routes: orNull(list(reference('Route'))),
    data: list(reference('Document')),
  }),
  OldResponse: object({ requestId: TEXT, status: ANY_OBJECT, routes: list(ANY_OBJECT) }),
  StatusReport: object({
    jina: { type: 'object', additionalProperties: TEXT },
    envs: { type: 'object', additionalProperties: TEXT },
  }),
  Health: object({ status: { ...TEXT, description: '`ok`, or `draining` with HTTP 503' } }, ['status']),
  Empty: ANY_OBJECT,
  Failure: object({
    detail: {
      anyOf: [
        TEXT,
        list(
          object({ loc: list({ anyOf: [TEXT, { type: 'integer' }] }), msg: TEXT, type: TEXT }, ['loc', 'msg', 'type']),
        ),
      ],
    },
  }),
} satisfies Record<RequestSchema | ResponseSchema | string, object>;

const operationId = ({ method, path }: Route) => `${method.toLowerCase()}_${path.replace(/[^A-Za-z0-9]+/g, '_')}`;

function createOperation(route: Route, version: DescriptionOptions['restApiVersion']): object {
  const gives = version !== '3' && route.responseSchema === 'DataResponse' ? 'OldResponse' : route.responseSchema;
  return {
    operationId: operationId(route),
    summary: route.summary,
    ...(route.description && { description: route.description }),
    tags: route.tags,
    ...(route.deprecated && { deprecated: true }),
    ...(route.isPublic && { security: [] }),
    ...(route.path.includes('{mode}') && {
      parameters: [{ name: 'mode', in: 'path', required: true, schema: TEXT }],
    }),
    ...(route.requestSchema && { requestBody: { required: true, ...json(route.requestSchema) } }),
    responses: {
      200: { description: 'The answer', ...json(gives) },
      ...(route.requestSchema && {
        422: { description: 'The request is invalid', ...json('Failure') },
        503: { description: 'An executor is unavailable', ...json('DataResponse') },
        504: { description: 'An executor did not answer in time', ...json('DataResponse') },
      }),
    },
  };
}

/** Returns an OpenAPI 3.1 document. */
export function createDescription(routes: readonly Route[], facts: DescriptionOptions): object {
  const paths: Record<string, Record<string, object>> = {};
  for (const route of routes) {
    paths[route.path] ??= {};
    paths[route.path]![route.method.toLowerCase()] = createOperation(route, facts.restApiVersion);
  }
  return {
    openapi: '3.1.0',
    info: { title: facts.title ?? TITLE, description: facts.description ?? DESCRIPTION, version: facts.version },
    ...(facts.token && { security: [{ token: [] }] }),
    paths,
    components: {
      schemas: SCHEMAS,
      ...(facts.token && { securitySchemes: { token: { type: 'http', scheme: 'bearer' } } }),
    },
  };
}

/** The description and its page. They are served whatever the options, and without a token: the page asks for it. */
export function descriptionRoutes(routes: readonly Route[], facts: DescriptionOptions): Route[] {
  const description = ok(JSON.stringify(createDescription(routes, facts)));
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
