/** The OpenAPI document of the model host, generated from the tables of fields, kinds and codes. */
import { CLASSIFY_FIELDS, TRAIN_FIELDS } from '#classify/index.ts';
import { INTERFACE_VERSIONS } from '#generated/interface-versions.ts';
import { entityTag, sendTagged } from '#http/etag.ts';
import type { Face } from '#http/server.ts';
import { CHAT_FIELDS, EMBED_FIELDS, RERANK_FIELDS, type RequestField, SIDES, TASKS } from '#models/index.ts';
import { BATCH_PATHS, BATCH_SCHEMAS } from '../batch/openapi.ts';
import { CLASSIFY_PATHS, CLASSIFY_SCHEMAS } from '../classify/openapi.ts';
import { ref } from '../openapi/components.ts';
import { publicRoute } from './endpoint.ts';
import * as examples from './examples.ts';
import { CHAT_FAILURES, FAILURE_RESPONSES, FAILURE_SCHEMAS, FAILURES } from './failures.ts';
import {
  EMBEDDING_SCHEMAS,
  integer,
  list,
  MODEL_SCHEMAS,
  object,
  RERANKING_SCHEMAS,
  type Schema,
  string,
} from './schemas.ts';

export function modelDescriptionRoute(face: Face): void {
  const description = JSON.stringify(createModelDescription(INTERFACE_VERSIONS.models.version));
  const tag = entityTag(description);
  publicRoute(face, '/openapi.json', async (request, reply) =>
    sendTagged(
      request,
      reply.type('application/json; charset=utf-8').header('cache-control', 'no-cache'),
      description,
      tag,
    ),
  );
}

/** The OpenAPI 3.1 document of the model host. `version` is the version of the interface. */
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
    tags: TAGS,
    paths: {
      '/v1/embeddings': {
        post: keyed({
          id: 'embeddings_v1_embeddings_post',
          tag: 'Embeddings',
          summary: 'Compute embeddings',
          request: 'EmbeddingsRequest',
          answer: ref('EmbeddingResponse'),
          examples: examples.EMBEDDINGS,
        }),
      },
      '/v1/rerank': {
        post: keyed({
          id: 'rerank_v1_rerank_post',
          tag: 'Rerank',
          summary: 'Rank documents by their relevance to a query',
          request: 'RerankRequest',
          answer: ref('RerankingResponse'),
          examples: examples.RERANKING,
        }),
      },
      '/v2/rerank': {
        post: keyed({
          id: 'rerank_v2_rerank_post',
          tag: 'Rerank',
          summary: 'Rank documents, in the format of Cohere’s API',
          request: 'RerankRequest',
          answer: ref('CohereRerankingResponse'),
          examples: examples.COHERE_RERANKING,
        }),
      },
      '/rerank': {
        post: keyed({
          id: 'rerank_rerank_post',
          tag: 'Rerank',
          summary: 'Rank documents, in the format of text-embeddings-inference if `texts` is sent',
          request: 'TeiRerankRequest',
          answer: { anyOf: [ref('TeiRerankingResponse'), ref('RerankingResponse')] },
          examples: examples.TEI_RERANKING,
        }),
      },
      '/v1/chat/completions': { post: CHAT },
      ...BATCH_PATHS,
      ...CLASSIFY_PATHS,
      '/v1/models': {
        get: {
          ...open('list_models_v1_models_get', 'List the models', ref('ModelListResponse'), examples.MODELS),
          parameters: [
            {
              name: 'all',
              in: 'query',
              description: 'With `true`, models that are known but not available are listed too, last.',
              schema: { type: 'boolean', default: false },
            },
          ],
        },
      },
      '/v1/models/{model_id}': {
        get: {
          ...open('get_model_v1_models__model_id__get', 'Get a model', ref('ModelInfo'), examples.MODEL),
          parameters: [
            {
              name: 'model_id',
              in: 'path',
              required: true,
              description: 'The id of the model. The slash in a repository name may be raw or encoded.',
              schema: string(),
              example: examples.EMBEDDER,
            },
          ],
        },
      },
      '/health': { get: probe('health_health_get', 'Whether the process responds', 'ok') },
      '/live': { get: probe('live_live_get', 'Whether the event loop responds', 'ok') },
      '/ready': { get: probe('ready_ready_get', 'Whether all required models are loaded', 'ready') },
    },
    components: {
      securitySchemes: { key: { type: 'http', scheme: 'bearer' } },
      responses: FAILURE_RESPONSES,
      schemas: {
        EmbeddingsRequest: requestSchema(EMBED_FIELDS, kindsOf, EMBED_WORDS),
        RerankRequest: requestSchema(RERANK_FIELDS),
        TeiRerankRequest: teiSchema(),
        ...EMBEDDING_SCHEMAS,
        ...RERANKING_SCHEMAS,
        ChatRequest: requestSchema(CHAT_FIELDS),
        ChatCompletion: CHAT_COMPLETION,
        ChatChunk: CHAT_CHUNK,
        ...MODEL_SCHEMAS,
        ...BATCH_SCHEMAS,
        ClassifyRequest: requestSchema(CLASSIFY_FIELDS),
        TrainRequest: requestSchema(TRAIN_FIELDS),
        ...CLASSIFY_SCHEMAS,
        ...FAILURE_SCHEMAS,
      },
    },
  };
}

const TAGS = [
  { name: 'Embeddings', description: 'Embedding vectors for texts, images, PDFs, audio and video.' },
  { name: 'Rerank', description: 'Ranking of documents by their relevance to a query.' },
  { name: 'Chat', description: 'Text recognition and chat completions.' },
  { name: 'Batch', description: 'Jobs that embed many texts.' },
  { name: 'Classification', description: 'Labels for texts and images.' },
  { name: 'Models', description: 'The models on this host.' },
  { name: 'Health', description: 'Probes.' },
];

/** Lists each field under its name and aliases. A required field with aliases may be sent under any of them. */
function requestSchema(
  fields: Readonly<Record<string, RequestField>>,
  remark: (name: string) => string = () => '',
  words: Readonly<Record<string, Schema>> = {},
): Schema {
  const properties = Object.entries(fields).flatMap(([name, { aliases, meaning, schema: types }]) => {
    const schema = words[name] ?? types;
    return [
      [name, { ...schema, description: [meaning, remark(name)].filter(Boolean).join(' ') }],
      ...aliases.map((alias) => [alias, { ...schema, description: `Alias of \`${name}\`, which takes precedence.` }]),
    ];
  });
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

/** A string with some known values, which depend on the kind of model. */
const openWords = (words: readonly string[]): Schema => ({
  anyOf: [{ type: 'string', enum: words }, { type: 'string' }, { type: 'null' }],
});
const EMBED_WORDS = {
  task: openWords([...new Set(Object.values(TASKS).flatMap(({ values }) => values))]),
  input_type: openWords(Object.keys(SIDES)),
};

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

const json = (schema: Schema, example: unknown) => ({ 'application/json': { schema, example } });
const count = (description: string) => ({ schema: { type: 'integer' }, description });
const LIMIT_HEADERS = {
  'X-RateLimit-Limit-Requests': count('Requests per minute.'),
  'X-RateLimit-Remaining-Requests': count('Requests left.'),
  'X-RateLimit-Reset-Requests': count('Seconds until the limit resets.'),
  'X-RateLimit-Limit-Tokens': count('Tokens per minute.'),
  'X-RateLimit-Remaining-Tokens': count('Tokens left.'),
  'X-RateLimit-Reset-Tokens': count('Seconds until the limit resets.'),
};

interface KeyedOperation {
  readonly id: string;
  readonly tag: string;
  readonly summary: string;
  readonly request: string;
  readonly answer: Schema;
  readonly examples: { readonly request: unknown; readonly answer: unknown };
}

const keyed = ({
  id,
  tag,
  summary,
  request,
  answer,
  examples: { request: sent, answer: received },
}: KeyedOperation) => ({
  operationId: id,
  summary,
  tags: [tag],
  security: [{ key: [] }],
  requestBody: { required: true, content: json(ref(request), sent) },
  responses: {
    200: { description: 'The response.', headers: LIMIT_HEADERS, content: json(answer, received) },
    ...FAILURES,
  },
});

const CHAT_USAGE = object(
  { prompt_tokens: integer(), completion_tokens: integer(), total_tokens: integer('Tokens charged.') },
  ['prompt_tokens', 'completion_tokens', 'total_tokens'],
);
const OCR_WARNING = string('What to know about the text: for example, numbers that two recognizers read differently.');
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
  { usage: CHAT_USAGE, system_fingerprint: { type: 'null' }, warning: OCR_WARNING },
  ['usage'],
);
const CHAT_CHUNK = completionOf(
  'chat.completion.chunk',
  object({ index: integer(), delta: object({ role: string(), content: string() }, []), finish_reason: FINISH }, [
    'index',
    'delta',
    'finish_reason',
  ]),
  { usage: CHAT_USAGE, warning: OCR_WARNING },
  [],
);
const CHAT = {
  operationId: 'chat_completions_v1_chat_completions_post',
  summary: 'Recognize text in images and documents, or complete a chat',
  tags: ['Chat'],
  security: [{ key: [] }],
  requestBody: { required: true, content: json(ref('ChatRequest'), examples.CHAT.request) },
  responses: {
    200: {
      description: 'The response; with `stream`, chunks as server-sent events, then `[DONE]`.',
      headers: LIMIT_HEADERS,
      content: {
        ...json(ref('ChatCompletion'), examples.CHAT.answer),
        'text/event-stream': { schema: string('Events, each with a ChatChunk as its data, then `[DONE]`.') },
      },
    },
    ...CHAT_FAILURES,
  },
};

const open = (operationId: string, summary: string, answer: Schema, example: unknown) => ({
  operationId,
  summary,
  tags: ['Models'],
  security: [],
  responses: { 200: { description: 'The response.', content: json(answer, example) }, ...FAILURES },
});

const probe = (operationId: string, summary: string, status: string) => {
  const models = status === 'ready';
  const state = object(
    {
      status: string(),
      ...(models && {
        models: { type: 'object', additionalProperties: string() },
        reason: string('Why the host is not ready.'),
      }),
    },
    ['status'],
  );
  const example = { status, ...(models && { models: {} }) };
  return {
    operationId,
    summary,
    tags: ['Health'],
    security: [],
    responses: {
      200: { description: 'Yes.', content: json(state, example) },
      503: { description: 'The host is not ready.', content: json(state, { ...example, status: 'not_ready' }) },
    },
  };
};
