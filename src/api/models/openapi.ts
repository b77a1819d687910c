/** The OpenAPI document of the model host, made from the tables of fields, kinds and codes. */
import { CLASSIFY_FIELDS, TRAIN_FIELDS } from '#classify/index.ts';
import type { Face } from '#http/server.ts';
import { CHAT_FIELDS, EMBED_FIELDS, FAULT_TYPES, RERANK_FIELDS, type RequestField, TASKS } from '#models/index.ts';
import { BATCH_PATHS, BATCH_SCHEMAS } from '../batch/openapi.ts';
import { CLASSIFY_PATHS, CLASSIFY_SCHEMAS } from '../classify/openapi.ts';
import { MODEL_CODES, RATE_CODES } from '../envelopes/model.ts';
import { ref } from '../openapi/components.ts';
import { TRACE_SCHEMA } from '../openapi/trace.ts';
import { publicRoute } from './endpoint.ts';

export function modelDescriptionRoute(face: Face, version: string): void {
  const description = JSON.stringify(createModelDescription(version));
  publicRoute(face, '/openapi.json', async (_, reply) =>
    reply.type('application/json; charset=utf-8').send(description),
  );
}

/** The OpenAPI 3.1 document of the model host. */
export function createModelDescription(version: string): object {
  return {
    openapi: '3.1.0',
    info: {
      title: 'Lectern model host',
      version,
      description:
        'Embeds and ranks texts, images, PDFs, audio and video, and completes chats. Unknown fields are ignored; null counts as absent.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: '/' }],
    paths: {
      '/v1/embeddings': { post: keyed('embed', 'Compute embeddings', 'EmbeddingsRequest', ref('Embeddings')) },
      '/v1/rerank': { post: keyed('rerank', 'Rank documents by a query', 'RerankRequest', ref('Ranking')) },
      '/v2/rerank': {
        post: keyed('rerankAsCohere', 'Rank documents, in the format of Cohere’s API', 'RerankRequest', COHERE_RANKING),
      },
      '/rerank': {
        post: keyed(
          'rerankAsTei',
          'Rank documents, in the format of text-embeddings-inference if `texts` is sent',
          'TeiRerankRequest',
          {
            anyOf: [TEI_RANKING, ref('Ranking')],
          },
        ),
      },
      '/v1/chat/completions': { post: CHAT },
      ...BATCH_PATHS,
      ...CLASSIFY_PATHS,
      '/v1/models': { get: open('listModels', 'List the models', ref('Models')) },
      '/v1/models/{model_id}': {
        get: {
          ...open('showModel', 'Get a model', ref('Model')),
          parameters: [
            {
              name: 'model_id',
              in: 'path',
              required: true,
              description: 'The id of the model. The slash of a repository name may be raw or encoded.',
              schema: string(),
            },
          ],
        },
      },
      '/health': { get: probe('health', 'Whether the process answers') },
      '/live': { get: probe('live', 'Whether the event loop answers') },
      '/ready': { get: probe('ready', 'Whether all required models are loaded') },
    },
    components: {
      securitySchemes: { key: { type: 'http', scheme: 'bearer' } },
      schemas: {
        EmbeddingsRequest: requestSchema(EMBED_FIELDS, kindsOf),
        RerankRequest: requestSchema(RERANK_FIELDS),
        TeiRerankRequest: teiSchema(),
        Embeddings: EMBEDDINGS,
        Ranking: RANKING,
        ChatRequest: requestSchema(CHAT_FIELDS),
        ChatCompletion: CHAT_COMPLETION,
        ChatChunk: CHAT_CHUNK,
        ChatFailure: CHAT_FAILURE,
        Models: object({ object: { const: 'list' }, data: list(ref('Model')) }, ['object', 'data']),
        Model: MODEL,
        ...BATCH_SCHEMAS,
        ClassifyRequest: requestSchema(CLASSIFY_FIELDS),
        TrainRequest: requestSchema(TRAIN_FIELDS),
        ...CLASSIFY_SCHEMAS,
        Failure: FAILURE,
      },
    },
  };
}

type Schema = Readonly<Record<string, unknown>>;

const string = (description?: string): Schema => ({ type: 'string', ...(description && { description }) });
const integer = (description?: string): Schema => ({ type: 'integer', ...(description && { description }) });
const list = (items: Schema, description?: string): Schema => ({
  type: 'array',
  items,
  ...(description && { description }),
});
const object = (properties: Record<string, Schema>, required: readonly string[]): Schema => ({
  type: 'object',
  properties,
  required,
});

/** Lists each field under its name and aliases. A required field with aliases may be sent under any of them. */
function requestSchema(
  fields: Readonly<Record<string, RequestField>>,
  remark: (name: string) => string = () => '',
): Schema {
  const properties = Object.entries(fields).flatMap(([name, { aliases, meaning, schema }]) => [
    [name, { ...schema, description: [meaning, remark(name)].filter(Boolean).join(' ') }],
    ...aliases.map((alias) => [alias, { ...schema, description: `Alias of \`${name}\`, which takes precedence.` }]),
  ]);
  const required = Object.entries(fields).flatMap(([name, { required, aliases }]) =>
    required && !aliases.length ? [name] : [],
  );
  const either = Object.entries(fields).flatMap(([name, { required, aliases }]) =>
    required && aliases.length ? [{ anyOf: [name, ...aliases].map((one) => ({ required: [one] })) }] : [],
  );
  return {
    type: 'object',
    properties: Object.fromEntries(properties),
    required,
    ...(either.length && { allOf: either }),
    additionalProperties: true,
  };
}

function kindsOf(name: string): string {
  const { kinds, otherwise } = EMBED_FIELDS[name as keyof typeof EMBED_FIELDS];
  const tasks = Object.entries(TASKS).map(([kind, { values }]) => `${kind}: ${values.join(', ')}`);
  const all = kinds.length === EMBED_FIELDS.model.kinds.length;
  return [
    !all && `Used by models of the kinds ${kinds.join(', ')}; ${otherwise} by others.`,
    name === 'task' && `Values by kind: ${tasks.join('; ')}.`,
  ]
    .filter(Boolean)
    .join(' ');
}

function teiSchema(): Schema {
  const { required: _, allOf: __, ...schema } = requestSchema(RERANK_FIELDS);
  return { ...schema, required: ['query'] };
}

const USAGE = object(
  {
    total_tokens: integer('All tokens, including those of images.'),
    prompt_tokens: integer('Same as `total_tokens`.'),
    image_tokens: integer('Tokens of images, if there are any.'),
  },
  ['total_tokens', 'prompt_tokens'],
);
const SPARSE_USAGE = object({ input_tokens: integer(), output_tokens: { const: 0 }, total_tokens: integer() }, [
  'input_tokens',
  'output_tokens',
  'total_tokens',
]);
const numbers = list({ type: 'number' });
const VECTOR: Schema = {
  anyOf: [numbers, string('Little-endian float32 in base64.'), { type: 'object', additionalProperties: true }],
  description:
    'Numbers or base64; an object by type if several were requested; an object of weights by token for sparse models.',
};

const EMBEDDINGS = object(
  {
    model: string('The id that the request named, without organization.'),
    object: { const: 'list' },
    usage: { anyOf: [USAGE, SPARSE_USAGE] },
    data: list(
      {
        anyOf: [
          object({ object: { const: 'embedding' }, index: integer(), embedding: VECTOR }, [
            'object',
            'index',
            'embedding',
          ]),
          object(
            {
              object: { const: 'embeddings' },
              index: integer(),
              embeddings: list(VECTOR, 'One vector per token.'),
              tokenized_input: list(string()),
            },
            ['object', 'index', 'embeddings'],
          ),
        ],
      },
      'One entry per input, in order.',
    ),
    trace: TRACE_SCHEMA,
  },
  ['model', 'object', 'usage', 'data'],
);

const RANKED = object(
  {
    index: integer('Position in the request.'),
    relevance_score: { type: 'number', minimum: 0, maximum: 1 },
    document: { type: 'object', additionalProperties: true, description: 'The document, if documents are returned.' },
  },
  ['index', 'relevance_score'],
);
const RANKING = object(
  {
    model: string('The id that the request named, without organization.'),
    object: { const: 'list' },
    usage: object({ total_tokens: integer() }, ['total_tokens']),
    results: list(RANKED, 'Best first. Equal scores keep the order of the request.'),
    trace: TRACE_SCHEMA,
  },
  ['model', 'object', 'usage', 'results'],
);
const COHERE_RANKING = object(
  { id: string(), results: list(RANKED), meta: { type: 'object', additionalProperties: true } },
  ['id', 'results', 'meta'],
);
const TEI_RANKING = list(
  object({ index: integer(), score: { type: 'number' }, text: string('With `return_text`.') }, ['index', 'score']),
);

const price = string('Decimal, per unit.');
const MODEL = object(
  {
    id: string('The id to use in requests.'),
    name: string(),
    hugging_face_id: string('Its Hugging Face repository, or empty.'),
    created: integer('Unix seconds.'),
    description: string(),
    input_modalities: list(string()),
    output_modalities: list({ enum: ['embeddings', 'rerank', 'text'] }),
    context_length: integer('Maximum tokens per input.'),
    max_output_length: integer('Maximum vector dimensions; 0 for rerankers.'),
    quantization: string(),
    pricing: { type: 'object', additionalProperties: price },
    supported_sampling_parameters: list(string()),
    supported_features: list(string()),
    datacenters: list({ type: 'object' }),
    object: { const: 'model' },
    owned_by: string(),
    serves: string('The id of the model used. Differs from `id` for an alias.'),
    kind: string('The kind of embedding model, which decides its request fields; `rerank` or `chat` for others.'),
    spaces: {
      type: 'object',
      additionalProperties: string(),
      description: 'The vector space of each type of input, if not all vectors are comparable.',
    },
    dimensions: list(integer(), 'Common sizes of its vectors.'),
    languages: list(string()),
    license: string(),
    on_disk: { type: 'boolean', description: 'Whether its files are on this machine.' },
    residence: { enum: ['loaded', 'loading', 'failed', 'asleep'], description: 'Whether it is loaded into memory.' },
  },
  [
    'id',
    'hugging_face_id',
    'name',
    'created',
    'input_modalities',
    'output_modalities',
    'quantization',
    'context_length',
    'max_output_length',
    'pricing',
    'supported_sampling_parameters',
    'supported_features',
    'description',
    'datacenters',
  ],
);

const CODES = [...new Set([...Object.values(MODEL_CODES).map(({ code }) => code), ...Object.values(RATE_CODES)])];
const FAILURE = object(
  {
    detail: string('A description of the failure.'),
    code: { enum: CODES },
    request_id: string('32 hexadecimal digits, as in the header X-Request-Id.'),
    errors: list(
      object(
        {
          field: string('The path of the field, such as `body -> input -> 0`.'),
          message: string(),
          type: { enum: [...FAULT_TYPES, 'json_invalid'] },
          input: { description: 'The invalid value; truncated if long.' },
        },
        ['field', 'message', 'type'],
      ),
      'All errors of an invalid request.',
    ),
  },
  ['detail', 'request_id'],
);

const json = (schema: Schema) => ({ 'application/json': { schema } });
const failure = { description: 'A failure.', content: json(ref('Failure')) };
const count = (description: string) => ({ schema: { type: 'integer' }, description });
const LIMIT_HEADERS = {
  'X-RateLimit-Limit-Requests': count('Requests per minute.'),
  'X-RateLimit-Remaining-Requests': count('Requests left.'),
  'X-RateLimit-Reset-Requests': count('Seconds until the limit resets.'),
  'X-RateLimit-Limit-Tokens': count('Tokens per minute.'),
  'X-RateLimit-Remaining-Tokens': count('Tokens left.'),
  'X-RateLimit-Reset-Tokens': count('Seconds until the limit resets.'),
};

const keyed = (operationId: string, summary: string, request: string, answer: Schema) => ({
  operationId,
  summary,
  security: [{ key: [] }],
  requestBody: { required: true, content: json(ref(request)) },
  responses: {
    200: { description: 'The answer.', headers: LIMIT_HEADERS, content: json(answer) },
    422: { description: 'The request is invalid.', content: json(ref('Failure')) },
    default: failure,
  },
});

const CHAT_USAGE = object(
  { prompt_tokens: integer(), completion_tokens: integer(), total_tokens: integer('Tokens charged.') },
  ['prompt_tokens', 'completion_tokens', 'total_tokens'],
);
const FINISH = { enum: ['stop', 'length', null] };
const completionOf = (kind: string, choice: Schema, more: Record<string, Schema>, required: readonly string[]) =>
  object(
    {
      id: string(),
      object: { const: kind },
      created: integer('Unix seconds.'),
      model: string('The id that the request named, without organization.'),
      choices: list(choice),
      ...more,
    },
    ['id', 'object', 'created', 'model', 'choices', ...required],
  );
const CHAT_COMPLETION = completionOf(
  'chat.completion',
  object(
    {
      index: integer(),
      message: object({ role: { const: 'assistant' }, content: string(), refusal: { type: 'null' } }, [
        'role',
        'content',
      ]),
      logprobs: { type: 'null' },
      finish_reason: FINISH,
    },
    ['index', 'message', 'finish_reason'],
  ),
  { usage: CHAT_USAGE, system_fingerprint: { type: 'null' } },
  ['usage'],
);
const CHAT_CHUNK = completionOf(
  'chat.completion.chunk',
  object({ index: integer(), delta: object({ role: string(), content: string() }, []), finish_reason: FINISH }, [
    'index',
    'delta',
    'finish_reason',
  ]),
  { usage: CHAT_USAGE },
  [],
);
const orNull = (schema: Schema): Schema => ({ anyOf: [schema, { type: 'null' }] });
const CHAT_FAILURE = object(
  {
    error: object(
      {
        message: string('A description of the failure.'),
        type: string('`invalid_request_error`, `authentication_error`, `rate_limit_error`, `server_error`, …'),
        param: orNull(string('The invalid field, such as `messages[0].content[1].image_url.url`.')),
        code: orNull({ enum: CODES }),
        request_id: string('Same as the header X-Request-Id.'),
      },
      ['message', 'type', 'param', 'code'],
    ),
  },
  ['error'],
);
const CHAT = {
  operationId: 'completeChat',
  summary: 'Recognize text in images and documents, or complete a chat',
  security: [{ key: [] }],
  requestBody: { required: true, content: json(ref('ChatRequest')) },
  responses: {
    200: {
      description: 'The answer; with `stream`, chunks as server-sent events, then `[DONE]`.',
      headers: LIMIT_HEADERS,
      content: { ...json(ref('ChatCompletion')), 'text/event-stream': { schema: ref('ChatChunk') } },
    },
    default: { description: 'A failure.', content: json(ref('ChatFailure')) },
  },
};

const open = (operationId: string, summary: string, answer: Schema) => ({
  operationId,
  summary,
  security: [],
  responses: { 200: { description: 'The answer.', content: json(answer) }, default: failure },
});

const probe = (operationId: string, summary: string) => {
  const state = object(
    { status: string(), models: { type: 'object', additionalProperties: string() }, reason: string() },
    ['status'],
  );
  return {
    operationId,
    summary,
    security: [],
    responses: {
      200: { description: 'Yes.', content: json(state) },
      503: { description: 'No.', content: json(state) },
    },
  };
};
