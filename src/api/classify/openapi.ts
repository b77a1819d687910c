/** The part of the model host's OpenAPI document for classification. */
import { FAILURES } from '../models/failures.ts';
import { ref } from '../openapi/components.ts';
import { TRACE_SCHEMA } from '../openapi/trace.ts';
import { CLASSIFICATION, CLASSIFIER, CLASSIFIER_ID, TRAINING } from './examples.ts';

type Schema = Readonly<Record<string, unknown>>;

const json = (schema: Schema, example: unknown) => ({ 'application/json': { schema, example } });
const string = { type: 'string' };
const integer = { type: 'integer' };
const time = { type: 'string', format: 'date-time' };
const list = (items: Schema) => ({ type: 'array', items });
/** A value, or one for each group of labels. */
const byGroup = (schema: Schema) => ({ anyOf: [schema, { type: 'object', additionalProperties: schema }] });

export const CLASSIFY_SCHEMAS: Readonly<Record<string, Schema>> = {
  ClassificationResponse: {
    type: 'object',
    properties: {
      data: list(ref('ClassificationPrediction')),
      usage: ref('BaseUsage'),
      trace: TRACE_SCHEMA,
    },
    required: ['data', 'usage'],
  },
  ClassificationPrediction: {
    type: 'object',
    description: 'With groups of labels, `prediction`, `score` and `predictions` are objects by group.',
    properties: {
      object: { const: 'classification' },
      index: integer,
      prediction: byGroup(string),
      score: byGroup({ type: 'number' }),
      predictions: byGroup(list(ref('ClassificationPredictionLabel'))),
    },
    required: ['object', 'index', 'prediction', 'score', 'predictions'],
  },
  ClassificationPredictionLabel: {
    type: 'object',
    properties: { label: string, score: { type: 'number', minimum: 0, maximum: 1 } },
    required: ['label', 'score'],
  },
  TrainingResponse: {
    type: 'object',
    properties: {
      classifier_id: string,
      num_samples: { type: 'integer', description: 'Number of samples in this request.' },
      usage: ref('BaseUsage'),
      trace: TRACE_SCHEMA,
    },
    required: ['classifier_id', 'num_samples', 'usage'],
  },
  ClassifierSummary: {
    type: 'object',
    properties: {
      classifier_id: string,
      user_id: { type: 'string', description: 'Id of the account.' },
      model: string,
      labels: list(string),
      access: { enum: ['private', 'public'] },
      updated_number: { type: 'integer', description: 'Number of trainings after the first.' },
      used_number: { type: 'integer', description: 'Number of requests that used the classifier.' },
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

interface Operation {
  readonly id: string;
  readonly summary: string;
  readonly answer: Schema;
  readonly example: unknown;
  /** The schema name of the request, and an example. */
  readonly request?: readonly [string, unknown];
}

const operation = ({ id, summary, answer, example, request }: Operation) => ({
  operationId: id,
  summary,
  tags: ['Classification'],
  security: [{ key: [] }],
  ...(request && { requestBody: { required: true, content: json(ref(request[0]), request[1]) } }),
  responses: { 200: { description: 'The response.', content: json(answer, example) }, ...FAILURES },
});

const LIST = {
  summary: 'List your trained classifiers',
  answer: list(ref('ClassifierSummary')),
  example: [CLASSIFIER],
};

export const CLASSIFY_PATHS: Readonly<Record<string, unknown>> = {
  '/v1/classify': {
    post: operation({
      id: 'classify_v1_classify_post',
      summary: 'Classify texts and images',
      answer: ref('ClassificationResponse'),
      example: CLASSIFICATION.answer,
      request: ['ClassifyRequest', CLASSIFICATION.request],
    }),
  },
  '/v1/train': {
    post: operation({
      id: 'train_v1_train_post',
      summary: 'Train a classifier',
      answer: ref('TrainingResponse'),
      example: TRAINING.answer,
      request: ['TrainRequest', TRAINING.request],
    }),
  },
  '/v1/classifiers': {
    get: operation({ id: 'list_classifiers_v1_classifiers_post', ...LIST }),
    post: operation({ id: 'list_classifiers_v1_classifiers_post__post', ...LIST }),
  },
  '/v1/classifiers/{classifier_id}': {
    delete: {
      ...operation({
        id: 'delete_classifier_v1_classifiers__classifier_id__delete',
        summary: 'Delete a trained classifier',
        answer: {
          type: 'object',
          properties: { classifier_id: string, deleted: { const: true } },
          required: ['classifier_id', 'deleted'],
        },
        example: { classifier_id: CLASSIFIER_ID, deleted: true },
      }),
      parameters: [{ name: 'classifier_id', in: 'path', required: true, schema: string, example: CLASSIFIER_ID }],
    },
  },
};
