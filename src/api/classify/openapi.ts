/** The part of the model host's OpenAPI document for classification. */
import { ref } from '../openapi/components.ts';
import { TRACE_SCHEMA } from '../openapi/trace.ts';

type Schema = Readonly<Record<string, unknown>>;

const json = (schema: Schema) => ({ 'application/json': { schema } });
const failure = { description: 'A failure.', content: json(ref('Failure')) };
const string = { type: 'string' };
const integer = { type: 'integer' };
const time = { type: 'string', format: 'date-time' };
const list = (items: Schema) => ({ type: 'array', items });
/** A value, or one for each group of labels. */
const byGroup = (schema: Schema) => ({ anyOf: [schema, { type: 'object', additionalProperties: schema }] });
const USAGE = { type: 'object', properties: { total_tokens: integer }, required: ['total_tokens'] };

export const CLASSIFY_SCHEMAS: Readonly<Record<string, Schema>> = {
  Classification: {
    type: 'object',
    properties: {
      data: list({
        type: 'object',
        description: 'With groups of labels, `prediction`, `score` and `predictions` are objects by group.',
        properties: {
          object: { const: 'classification' },
          index: integer,
          prediction: byGroup(string),
          score: byGroup({ type: 'number' }),
          predictions: byGroup(
            list({
              type: 'object',
              properties: { label: string, score: { type: 'number', minimum: 0, maximum: 1 } },
              required: ['label', 'score'],
            }),
          ),
        },
        required: ['object', 'index', 'prediction', 'score', 'predictions'],
      }),
      usage: USAGE,
      trace: TRACE_SCHEMA,
    },
    required: ['data', 'usage'],
  },
  Training: {
    type: 'object',
    properties: {
      classifier_id: string,
      num_samples: { type: 'integer', description: 'Samples of this request.' },
      usage: USAGE,
      trace: TRACE_SCHEMA,
    },
    required: ['classifier_id', 'num_samples', 'usage'],
  },
  Classifier: {
    type: 'object',
    properties: {
      classifier_id: string,
      user_id: { type: 'string', description: 'Id of the account.' },
      model: string,
      labels: list(string),
      access: { enum: ['private', 'public'] },
      updated_number: { type: 'integer', description: 'Trainings after the first.' },
      used_number: { type: 'integer', description: 'Requests that used it.' },
      created_at: time,
      updated_at: time,
      used_at: { type: ['string', 'null'], format: 'date-time' },
      is_active: { const: true },
      is_latest: { const: true },
      metadata_: { type: 'object', properties: { num_samples: integer } },
    },
    required: [
      'classifier_id',
      'user_id',
      'model',
      'labels',
      'access',
      'updated_number',
      'used_number',
      'created_at',
      'updated_at',
    ],
  },
};

const answers = (schema: Schema) => ({
  200: { description: 'The answer.', content: json(schema) },
  default: failure,
});
const operation = (operationId: string, summary: string, answer: Schema, request?: string) => ({
  operationId,
  summary,
  security: [{ key: [] }],
  ...(request && { requestBody: { required: true, content: json(ref(request)) } }),
  responses: answers(answer),
});

export const CLASSIFY_PATHS: Readonly<Record<string, unknown>> = {
  '/v1/classify': {
    post: operation('classify', 'Classify texts and images', ref('Classification'), 'ClassifyRequest'),
  },
  '/v1/train': { post: operation('trainClassifier', 'Train a classifier', ref('Training'), 'TrainRequest') },
  '/v1/classifiers': {
    get: operation('listClassifiers', 'List your trained classifiers', list(ref('Classifier'))),
    post: operation('listClassifiersByPost', 'List your trained classifiers', list(ref('Classifier'))),
  },
  '/v1/classifiers/{classifier_id}': {
    delete: {
      ...operation('deleteClassifier', 'Delete a trained classifier', {
        type: 'object',
        properties: { classifier_id: string, deleted: { const: true } },
        required: ['classifier_id', 'deleted'],
      }),
      parameters: [{ name: 'classifier_id', in: 'path', required: true, schema: string }],
    },
  },
};
