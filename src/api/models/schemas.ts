/** The response schemas of the model host: embeddings, rankings and models. */
import { ref } from '../openapi/components.ts';
import { TRACE_SCHEMA } from '../openapi/trace.ts';

export type Schema = Readonly<Record<string, unknown>>;

export const string = (description?: string): Schema => ({ type: 'string', ...(description && { description }) });
export const integer = (description?: string): Schema => ({ type: 'integer', ...(description && { description }) });
export const list = (items: Schema, description?: string): Schema => ({
  type: 'array',
  items,
  ...(description && { description }),
});
export const object = (properties: Record<string, Schema>, required: readonly string[]): Schema => ({
  type: 'object',
  properties,
  required,
});

const numbers = list({ type: 'number' });
const VECTOR: Schema = {
  anyOf: [
    numbers,
    string('Little-endian float32 in base64.'),
    { type: 'object', additionalProperties: { anyOf: [numbers, string(), { type: 'number' }] } },
  ],
  description:
    'Numbers or base64; an object keyed by type if several types were requested; an object of weights keyed by token for sparse models.',
};

export const EMBEDDING_SCHEMAS: Readonly<Record<string, Schema>> = {
  EmbeddingResponse: object(
    {
      model: string('The id that the request named, without organization.'),
      object: { const: 'list' },
      usage: { anyOf: [ref('EmbeddingUsage'), ref('ELSERV2EmbeddingUsage')] },
      data: list({ anyOf: [ref('SingleEmbeddingData'), ref('MultiEmbeddingData')] }, 'One entry per input, in order.'),
      trace: TRACE_SCHEMA,
    },
    ['model', 'object', 'usage', 'data'],
  ),
  SingleEmbeddingData: object({ object: { const: 'embedding' }, index: integer(), embedding: VECTOR }, [
    'object',
    'index',
    'embedding',
  ]),
  MultiEmbeddingData: object(
    {
      object: { const: 'embeddings' },
      index: integer(),
      embeddings: list(VECTOR, 'One vector per token.'),
      tokenized_input: list(string()),
    },
    ['object', 'index', 'embeddings'],
  ),
  EmbeddingUsage: object(
    {
      total_tokens: integer('Number of all tokens, including those of images.'),
      prompt_tokens: integer('Same as `total_tokens`.'),
      image_tokens: integer('Number of tokens of images, if there are any.'),
    },
    ['total_tokens', 'prompt_tokens'],
  ),
  ELSERV2EmbeddingUsage: object({ input_tokens: integer(), output_tokens: { const: 0 }, total_tokens: integer() }, [
    'input_tokens',
    'output_tokens',
    'total_tokens',
  ]),
  BaseUsage: object({ total_tokens: integer('Tokens charged.') }, ['total_tokens']),
};

export const RERANKING_SCHEMAS: Readonly<Record<string, Schema>> = {
  RerankingResponse: object(
    {
      model: string('The id that the request named, without organization.'),
      object: { const: 'list' },
      usage: ref('BaseUsage'),
      results: list(ref('RerankingResult'), 'Best first. Equal scores keep the order of the request.'),
      trace: TRACE_SCHEMA,
    },
    ['model', 'object', 'usage', 'results'],
  ),
  RerankingResult: object(
    {
      index: integer('Position in the request.'),
      relevance_score: { type: 'number', minimum: 0, maximum: 1 },
      document: {
        type: 'object',
        additionalProperties: true,
        description: 'The document, if documents are returned: `{text}` for a string, an object as it was sent.',
      },
    },
    ['index', 'relevance_score'],
  ),
  CohereRerankingResponse: object(
    {
      id: string('The id of the request.'),
      results: list(ref('RerankingResult')),
      meta: object(
        {
          api_version: object({ version: { const: '2' } }, ['version']),
          billed_units: object({ search_units: integer() }, ['search_units']),
          tokens: object({ input_tokens: integer() }, ['input_tokens']),
        },
        ['api_version', 'billed_units', 'tokens'],
      ),
      trace: TRACE_SCHEMA,
    },
    ['id', 'results', 'meta'],
  ),
  TeiRerankingResponse: list(
    object({ index: integer(), score: { type: 'number' }, text: string('With `return_text`.') }, ['index', 'score']),
  ),
};

const UNITS = ['prompt', 'completion', 'image', 'request', 'input_cache_read', 'input_cache_write'];
const PRICE = string('Decimal, per unit.');

export const MODEL_SCHEMAS: Readonly<Record<string, Schema>> = {
  ModelListResponse: object({ object: { const: 'list' }, data: list(ref('ModelInfo')) }, ['object', 'data']),
  ModelPricing: {
    ...object(Object.fromEntries(UNITS.map((unit) => [unit, PRICE])), UNITS),
    additionalProperties: PRICE,
  },
  ModelInfo: object(
    {
      id: string('The id to use in requests.'),
      name: string(),
      hugging_face_id: string('Its Hugging Face repository, or empty.'),
      created: integer('Unix seconds.'),
      description: string(),
      input_modalities: list(string()),
      output_modalities: list({ enum: ['embeddings', 'rerank', 'text'] }),
      context_length: integer('Maximum number of tokens per input.'),
      max_output_length: integer('Maximum vector dimensions; 0 for rerankers.'),
      quantization: string(),
      pricing: ref('ModelPricing'),
      supported_sampling_parameters: list(string()),
      supported_features: list(string()),
      datacenters: list({ type: 'object' }, 'Always empty: the host does not know where it runs.'),
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
      available: { type: 'boolean', description: 'Whether a request for it can succeed.' },
      how: string(
        'How it is used, or what makes it available: `built-in`, `on disk`, `downloaded on first use`, `server`, or a command.',
      ),
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
  ),
};
