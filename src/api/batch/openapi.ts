/** The part of the model host's OpenAPI document for batch jobs. */
import { BATCH_TASKS, MAX_INLINE_LINES } from '#batch/index.ts';
import { EMBED_FIELDS } from '#models/index.ts';
import { FAILURES } from '../models/failures.ts';
import { ref } from '../openapi/components.ts';
import { BATCH_ID, BATCH_REQUEST, CREATED_BATCH, ERROR_LINE, FINISHED_BATCH, OUTPUT_LINE } from './examples.ts';

type Schema = Readonly<Record<string, unknown>>;

const json = (schema: Schema, example: unknown) => ({ 'application/json': { schema, example } });
const orNull = (type: string, more: Schema = {}): Schema => ({ type: [type, 'null'], ...more });
const field = (name: 'dimensions' | 'normalized' | 'embedding_type' | 'truncate'): Schema => ({
  ...EMBED_FIELDS[name].schema,
  description: EMBED_FIELDS[name].meaning,
});

const TEXT = {
  anyOf: [{ type: 'string' }, { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] }],
};
const OPTIONS = {
  task: { enum: [...BATCH_TASKS, null], default: 'text-matching', description: 'The purpose of the vectors.' },
  dimensions: field('dimensions'),
  normalized: field('normalized'),
  embedding_type: field('embedding_type'),
  truncate: field('truncate'),
};

const STATS = ['total', 'completed', 'failed', 'total_tokens'];
const TIME = { format: 'date-time' };

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
  BatchEmbeddingRequest: {
    type: 'object',
    properties: {
      model: { type: 'string', description: 'The id of a model with dense vectors.' },
      // Invalid lines are reported in the error file.
      input: orNull('array', { minItems: 1, maxItems: MAX_INLINE_LINES, description: 'The lines, each a BatchLine.' }),
      input_url: orNull('string', { description: 'URL of a JSONL file of lines, instead of `input`.' }),
      webhook_url: orNull('string', { description: 'URL that is sent one signed request when the job has ended.' }),
      ...OPTIONS,
    },
    required: ['model'],
    additionalProperties: true,
  },
  BatchResultLine: {
    type: 'object',
    description: 'One line of the output or of the errors.',
    properties: {
      id: { type: 'string', description: 'The number of the line in the job.' },
      custom_id: { type: ['string', 'null'], description: 'Null if the line had none.' },
      line: { type: 'integer', minimum: 1, description: 'With an error: the number of the line in the input.' },
      response: {
        anyOf: [
          {
            type: 'object',
            properties: {
              status_code: { const: 200 },
              request_id: { type: 'string' },
              body: ref('EmbeddingResponse'),
            },
            required: ['status_code', 'request_id', 'body'],
          },
          { type: 'null' },
        ],
      },
      error: {
        anyOf: [
          {
            type: 'object',
            properties: { code: orNull('string'), message: { type: 'string' } },
            required: ['code', 'message'],
          },
          { type: 'null' },
        ],
      },
    },
    required: ['id', 'custom_id', 'response', 'error'],
  },
  BatchStats: {
    type: 'object',
    description: 'Line counts, and the tokens charged.',
    properties: Object.fromEntries(STATS.map((name) => [name, { type: 'integer', minimum: 0 }])),
    required: STATS,
  },
  BatchStatus: {
    type: 'object',
    properties: {
      batch_id: { type: 'string' },
      status: { enum: ['pending', 'processing', 'completed', 'failed', 'expired', 'cancelled'] },
      model: { type: 'string' },
      created_at: { type: 'string', format: 'date-time' },
      completed_at: orNull('string', { ...TIME, description: 'When the job ended, with any status.' }),
      expires_at: orNull('string', TIME),
      stats: {
        anyOf: [ref('BatchStats'), { type: 'null' }],
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

const ID = { name: 'batch_id', in: 'path', required: true, schema: { type: 'string' }, example: BATCH_ID };
const call = (operationId: string, summary: string, answer: object, more: object = {}) => ({
  operationId,
  summary,
  tags: ['Batch'],
  security: [{ key: [] }],
  ...more,
  responses: { 200: { description: 'The response.', content: answer }, ...FAILURES },
});
const ofJob = { parameters: [ID] };
const STATUS = json(ref('BatchStatus'), FINISHED_BATCH);

/** A download, authorized by an API key or by the query of a signed URL. */
const file = (operationId: string, summary: string, line: unknown) => ({
  ...call(operationId, summary, { 'application/x-ndjson': { schema: ref('BatchResultLine'), example: line } }),
  security: [{ key: [] }, {}],
  parameters: [
    ID,
    ...['exp', 'sig'].map((name) => ({ name, in: 'query', required: false, schema: { type: 'string' } })),
  ],
});

export const BATCH_PATHS: Readonly<Record<string, unknown>> = {
  '/v1/batch/embeddings': {
    post: call(
      'create_batch_job_v1_batch_embeddings_post',
      'Submit a job that embeds many texts',
      json(ref('BatchStatus'), CREATED_BATCH),
      { requestBody: { required: true, content: json(ref('BatchEmbeddingRequest'), BATCH_REQUEST) } },
    ),
  },
  '/v1/batches': {
    get: call(
      'list_batch_jobs_v1_batches_get',
      'List the jobs of this key, newest first',
      json({ type: 'array', items: ref('BatchStatus') }, [FINISHED_BATCH]),
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
    get: call('get_batch_status_v1_batch__batch_id__get', 'Get a job', STATUS, ofJob),
    delete: call(
      'cancel_batch_job_v1_batch__batch_id__delete',
      'Cancel a job. A job that has ended is not changed',
      STATUS,
      ofJob,
    ),
  },
  '/v1/batch/{batch_id}/output': {
    get: file(
      'download_batch_output_v1_batch__batch_id__output_get',
      'Download the lines that succeeded, in input order',
      OUTPUT_LINE,
    ),
  },
  '/v1/batch/{batch_id}/errors': {
    get: file('download_batch_errors_v1_batch__batch_id__errors_get', 'Download the lines that failed', ERROR_LINE),
  },
};
