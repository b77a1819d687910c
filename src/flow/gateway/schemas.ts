/** The schemas of the gateway's OpenAPI document (docs/reference/wire/flow.md, Documents, Requests and Answers). */
import type { RequestSchema, ResponseSchema } from './routes.ts';

type Schema = Readonly<Record<string, unknown>>;

/** The names that the original framework uses for the same schemas. The published document uses these names. */
const PUBLISHED_NAMES: ReadonlyMap<string, string> = new Map([
  ['Document', 'PydanticDocument'],
  ['DataRequest', 'JinaRequestModel'],
  ['EndpointRequest', 'JinaEndpointRequestModel'],
  ['DataResponse', 'JinaResponseModel'],
  ['ReloadRequest', 'JinaReloadRequestModel'],
  ['StatusReport', 'JinaInfoModel'],
  ['Empty', 'JinaHealthModel'],
  ['Header', 'HeaderProto'],
  ['Route', 'RouteProto'],
  ['Status', 'StatusProto'],
  ['Exception', 'ExceptionProto'],
  ['Failure', 'HTTPValidationError'],
  ['Issue', 'ValidationError'],
]);

/** The name of a schema in the published document. */
export const publishedName = (name: string): string => PUBLISHED_NAMES.get(name) ?? name;

export const reference = (name: string) => ({ $ref: `#/components/schemas/${publishedName(name)}` });
const orNull = (schema: object) => ({ anyOf: [schema, { type: 'null' }] });
const list = (items: object) => ({ type: 'array', items });
const object = (properties: Readonly<Record<string, object>>, required: readonly string[] = []): Schema => ({
  type: 'object',
  properties,
  ...(required.length && { required }),
});
/** An object whose fields are all required. */
const whole = (properties: Readonly<Record<string, object>>): Schema => object(properties, Object.keys(properties));

const TEXT = { type: 'string' };
const NUMBER = { type: 'number' };
const COUNT = { type: 'integer', minimum: 0 };
const ANY_OBJECT = { type: 'object', additionalProperties: true };
const TIME = { type: 'string', format: 'date-time' };
const NUMBERS = {
  description: 'Numbers or booleans, evenly nested to any depth; a number if there is no dimension',
  anyOf: [{ type: 'array' }, NUMBER],
};

const DOCUMENT_FIELDS: Readonly<Record<string, object>> = {
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

const nullable = (fields: Readonly<Record<string, object>>) =>
  Object.fromEntries(Object.entries(fields).map(([name, schema]) => [name, orNull(schema)]));

const DOCUMENTS = list({ anyOf: [reference('Document'), TEXT] });
const DATA = {
  description: 'Documents, or an object with documents in `docs`. A string is a text, or an id to delete',
  anyOf: [DOCUMENTS, object({ docs: DOCUMENTS }, ['docs']), { type: 'null' }],
};

const REQUEST_FIELDS = {
  data: DATA,
  targetExecutor: orNull({ ...TEXT, description: 'A regular expression for the start of executor names' }),
  parameters: orNull({ ...ANY_OBJECT, description: '`NAME__key` is passed only to the executor NAME' }),
};

const OLD_FIELDS = {
  data: { description: 'Documents, texts or ids', anyOf: [DOCUMENTS, TEXT] },
  request_size: { type: 'integer', minimum: 1, description: 'Documents sent through the flow at once' },
  mime_type: { ...TEXT, default: '', description: 'The type of documents that have none' },
  queryset: list(ANY_OBJECT),
  data_type: {
    type: 'integer',
    enum: [0, 1, 2],
    default: 0,
    description: '0 documents or contents, 1 documents, also as JSON text, 2 contents',
  },
  top_k: COUNT,
};

const TARGETS = { anyOf: [TEXT, list(TEXT)], description: 'Regular expressions for the start of executor names' };

const ISSUE = object(
  {
    loc: list({ anyOf: [TEXT, { type: 'integer' }] }),
    msg: TEXT,
    type: TEXT,
    ctx: ANY_OBJECT,
  },
  ['loc', 'msg', 'type'],
);
const DETAIL = { anyOf: [TEXT, list(reference('Issue'))], description: 'Why the request failed' };

const OLD_DOCUMENT = { ...object({ id: TEXT }, ['id']), additionalProperties: true };
const OLD_ROUTE = { ...object({ pod: TEXT, podId: TEXT }, ['pod', 'podId']), additionalProperties: true };
const OLD_DATA = whole({ docs: list(OLD_DOCUMENT), groundtruths: list(OLD_DOCUMENT) });
const OLD_RESULT = object({ docs: list(OLD_DOCUMENT), ids: list(TEXT) });

const DEFINITIONS = {
  Document: object(nullable(DOCUMENT_FIELDS)),
  Score: object(nullable({ value: NUMBER, op_name: TEXT, description: TEXT, ref_id: TEXT })),
  DataRequest: object(REQUEST_FIELDS),
  EndpointRequest: object({ ...REQUEST_FIELDS, execEndpoint: { ...TEXT, default: '/' } }),
  OldRequest: object(OLD_FIELDS, ['data']),
  ModeRequest: object({
    ...OLD_FIELDS,
    command: { enum: ['STATUS', 'RELOAD'], description: 'For the CONTROL mode' },
    targets: TARGETS,
  }),
  ReloadRequest: object({ targets: TARGETS }, ['targets']),
  Exception: whole({ name: TEXT, args: list(TEXT), stacks: list(TEXT), executor: TEXT }),
  Status: whole({
    code: { type: 'integer', enum: [0, 1], description: '0 success, 1 error' },
    description: TEXT,
    exception: orNull(reference('Exception')),
  }),
  Header: whole({
    requestId: TEXT,
    status: orNull(reference('Status')),
    execEndpoint: TEXT,
    targetExecutor: TEXT,
  }),
  Route: whole({
    executor: TEXT,
    startTime: orNull(TIME),
    endTime: orNull(TIME),
    status: orNull(reference('Status')),
  }),
  DataResponse: whole({
    header: reference('Header'),
    parameters: orNull(ANY_OBJECT),
    routes: orNull(list(reference('Route'))),
    data: list(reference('Document')),
  }),
  UnavailableResponse: object(
    {
      header: reference('Header'),
      parameters: { type: 'null' },
      routes: { type: 'null' },
      data: { ...list(reference('Document')), description: 'The documents of the request' },
      detail: { ...list(reference('Issue')), description: 'Why, if the documents were not read' },
    },
    ['header', 'parameters', 'routes', 'data'],
  ),
  DocumentsResponse: whole({ requestId: TEXT, data: OLD_DATA }),
  MessageResponse: whole({
    requestId: TEXT,
    data: OLD_DATA,
    header: whole({ execEndpoint: TEXT, targetPeapod: TEXT, noPropagate: { type: 'boolean' } }),
    parameters: ANY_OBJECT,
    routes: list(OLD_ROUTE),
    status: whole({
      code: { type: 'integer', enum: [0, 3] },
      description: TEXT,
      exception: orNull(reference('Exception')),
    }),
  }),
  OldResponse: object(
    {
      requestId: TEXT,
      index: OLD_RESULT,
      search: OLD_RESULT,
      update: OLD_RESULT,
      delete: OLD_RESULT,
      train: OLD_RESULT,
      control: object({ command: TEXT, propagate: { type: 'boolean' }, targets: list(TEXT) }, ['command']),
      status: ANY_OBJECT,
      queryset: list(ANY_OBJECT),
      routes: list(OLD_ROUTE),
    },
    ['requestId', 'status', 'routes'],
  ),
  StatusReport: object(
    {
      jina: { type: 'object', additionalProperties: TEXT },
      envs: { type: 'object', additionalProperties: TEXT },
      used_memory: { ...TEXT, description: 'In version 1' },
      usedMemory: { ...TEXT, description: 'In version 2' },
    },
    ['jina', 'envs'],
  ),
  Health: {
    ...object(
      {
        status: { enum: ['ok', 'draining'] },
        version: { ...TEXT, description: 'Of the program' },
        uptimeSeconds: COUNT,
        memoryMb: { ...COUNT, description: 'Resident memory, in units of 1,000,000 bytes' },
      },
      ['status'],
    ),
    additionalProperties: false,
  },
  Empty: { type: 'object', additionalProperties: false },
  Issue: ISSUE,
  Failure: object({ detail: DETAIL }, ['detail']),
  Refusal: object({ reason: TEXT }, ['reason']),
} satisfies Record<RequestSchema | ResponseSchema | string, object>;

/** The schemas by their published names. */
export const SCHEMAS: Readonly<Record<string, object>> = Object.fromEntries(
  Object.entries(DEFINITIONS).map(([name, schema]) => [publishedName(name), schema]),
);
