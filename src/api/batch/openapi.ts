/** The part of the model host's OpenAPI document for batch jobs. */
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
    description:
      'One line of a job, inline or in JSONL. Accepts texts only. An invalid line does not affect the others.',
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
      model: { type: 'string', description: 'The id of a model with dense vectors.' },
      // Invalid lines are reported in the file of errors.
      input: orNull('array', { minItems: 1, maxItems: MAX_INLINE_LINES, description: 'The lines, each a BatchLine.' }),
      input_url: orNull('string', { description: 'URL of a JSONL file of lines, instead of `input`.' }),
      webhook_url: orNull('string', { description: 'URL that gets one signed request when the job has ended.' }),
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
      completed_at: orNull('string', { description: 'When the job ended, with any status.' }),
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
      output_url: orNull('string', { description: 'A signed URL, if a line succeeded.' }),
      error_file_url: orNull('string', { description: 'A signed URL, if a line failed.' }),
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

/** A download, authorized by a key or by the query of a signed URL. */
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
    post: call('submitBatch', 'Submit a job that embeds many texts', ref('BatchJob'), {
      requestBody: { required: true, content: json(ref('BatchRequest')) },
    }),
  },
  '/v1/batches': {
    get: call(
      'listBatches',
      'List the jobs of this key, newest first',
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
    get: call('showBatch', 'Get a job', ref('BatchJob'), ofJob),
    delete: call('cancelBatch', 'Cancel a job. A job that has ended is not changed', ref('BatchJob'), ofJob),
  },
  '/v1/batch/{batch_id}/output': { get: file('batchOutput', 'Download the lines that succeeded, in input order') },
  '/v1/batch/{batch_id}/errors': { get: file('batchErrors', 'Download the lines that failed') },
};
