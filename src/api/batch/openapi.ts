/** Batch jobs in the interface description of the model host (contract, section 8). */
import { BATCH_TASKS, MAX_INLINE_LINES } from '#batch/index.ts';
import { EMBED_FIELDS } from '#models/index.ts';
import { ref } from '../openapi/components.ts';

type Schema = Readonly<Record<string, unknown>>;

const json = (schema: Schema) => ({ 'application/json': { schema } });
const failure = { description: 'A failure.', content: json(ref('Failure')) };
const orNull = (type: string, more: Schema = {}): Schema => ({ type: [type, 'null'], ...more });
const field = (name: 'dimensions' | 'normalized' | 'embedding_type' | 'truncate'): Schema => ({
  ...EMBED_FIELDS[name].schema,
  description: EMBED_FIELDS[name].meaning,
});

const TEXT = {
  anyOf: [{ type: 'string' }, { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] }],
};
const OPTIONS = {
  task: orNull('string', { description: `One of ${BATCH_TASKS.join(', ')}. Default: text-matching.` }),
  dimensions: field('dimensions'),
  normalized: field('normalized'),
  embedding_type: field('embedding_type'),
  truncate: field('truncate'),
};

export const BATCH_SCHEMAS: Readonly<Record<string, Schema>> = {
  BatchLine: {
    type: 'object',
    description: 'A line of a job, inline or of JSONL: texts only. One that is wrong fails alone.',
    properties: {
      custom_id: { type: 'string', minLength: 1, maxLength: 256, description: 'Unique in the job.' },
      body: {
        type: 'object',
        properties: { input: { anyOf: [...TEXT.anyOf, { type: 'array', minItems: 1, items: TEXT }] }, ...OPTIONS },
        required: ['input'],
      },
    },
    required: ['custom_id', 'body'],
  },
  BatchRequest: {
    type: 'object',
    properties: {
      model: { type: 'string', description: 'The id of a model that gives dense vectors.' },
      // What is wrong with a line is told in the file of errors.
      input: orNull('array', { minItems: 1, maxItems: MAX_INLINE_LINES, description: 'Lines, each a BatchLine.' }),
      input_url: orNull('string', { description: 'Where JSONL is fetched from, instead of `input`.' }),
      webhook_url: orNull('string', { description: 'Told once, signed, when the job has ended.' }),
      ...OPTIONS,
    },
    required: ['model'],
    additionalProperties: true,
  },
  BatchJob: {
    type: 'object',
    properties: {
      batch_id: { type: 'string' },
      status: { enum: ['pending', 'processing', 'completed', 'failed', 'expired', 'cancelled'] },
      model: { type: 'string' },
      created_at: { type: 'string', format: 'date-time' },
      completed_at: orNull('string', { description: 'Set when the job has ended, however it did.' }),
      expires_at: orNull('string'),
      stats: {
        anyOf: [
          {
            type: 'object',
            properties: Object.fromEntries(
              ['total', 'completed', 'failed', 'total_tokens'].map((name) => [name, { type: 'integer' }]),
            ),
            required: ['total', 'completed', 'failed', 'total_tokens'],
          },
          { type: 'null' },
        ],
      },
      output_url: orNull('string', { description: 'A signed link, when a line succeeded.' }),
      error_file_url: orNull('string', { description: 'A signed link, when a line failed.' }),
      error: orNull('string', { description: 'Why the job failed as a whole.' }),
    },
    required: [
      ...['batch_id', 'status', 'model', 'created_at', 'completed_at', 'expires_at', 'stats'],
      ...['output_url', 'error_file_url', 'error'],
    ],
  },
};

const ID = { name: 'batch_id', in: 'path', required: true, schema: { type: 'string' } };
const call = (operationId: string, summary: string, answer: Schema, more: Schema = {}) => ({
  operationId,
  summary,
  security: [{ key: [] }],
  ...more,
  responses: { 200: { description: 'The answer.', content: json(answer) }, default: failure },
});
const ofJob = { parameters: [ID] };

/** A key, or the query of a signed link. */
const file = (operationId: string, summary: string) => ({
  operationId,
  summary,
  security: [{ key: [] }, {}],
  parameters: [
    ID,
    ...['exp', 'sig'].map((name) => ({ name, in: 'query', required: false, schema: { type: 'string' } })),
  ],
  responses: {
    200: { description: 'JSON lines.', content: { 'application/x-ndjson': { schema: { type: 'string' } } } },
    409: { description: 'The job has not ended.', content: json(ref('Failure')) },
    default: failure,
  },
});

export const BATCH_PATHS: Readonly<Record<string, Schema>> = {
  '/v1/batch/embeddings': {
    post: call('submitBatch', 'Embeddings of many texts, later', ref('BatchJob'), {
      requestBody: { required: true, content: json(ref('BatchRequest')) },
    }),
  },
  '/v1/batches': {
    get: call(
      'listBatches',
      'The caller’s own jobs, newest first',
      { type: 'array', items: ref('BatchJob') },
      {
        parameters: [
          {
            name: 'limit',
            in: 'query',
            required: false,
            schema: { type: 'integer', minimum: 1, maximum: 100, default: 20 },
          },
        ],
      },
    ),
  },
  '/v1/batch/{batch_id}': {
    get: call('showBatch', 'One job', ref('BatchJob'), ofJob),
    delete: call('cancelBatch', 'Ends a job; one that has ended stays as it is', ref('BatchJob'), ofJob),
  },
  '/v1/batch/{batch_id}/output': { get: file('batchOutput', 'The lines that succeeded, in the order of the input') },
  '/v1/batch/{batch_id}/errors': { get: file('batchErrors', 'The lines that failed') },
};
