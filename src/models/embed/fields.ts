/** Fields of an embeddings request: names, values, descriptions, and the kinds of models that accept them. */

import type { RequestField } from '../inputs/fields.ts';
import { MAX_INPUTS } from '../inputs/inputs.ts';
import { EMBEDDING_KINDS, type EmbeddingKind } from '../registry/catalogue.ts';
import { EMBEDDING_TYPES } from './vectors.ts';

interface EmbedField extends RequestField {
  readonly kinds: readonly EmbeddingKind[];
  /** How other kinds treat the field: they refuse it if it would change the result, and ignore it otherwise. */
  readonly otherwise: 'ignored' | 'refused';
}

const ALL = EMBEDDING_KINDS;
const but = (...kinds: readonly EmbeddingKind[]) => ALL.filter((kind) => !kinds.includes(kind));

const text = { type: 'string' };
const MEDIA = ['image', 'audio', 'video'];
const textObject = { type: 'object', properties: { text }, required: ['text'] };
const mediaObjects = MEDIA.map((name) => ({ type: 'object', properties: { [name]: text }, required: [name] }));
const partSchema = { anyOf: [text, textObject, ...mediaObjects, { type: 'object', required: ['type'] }] };
const itemSchema = {
  anyOf: [
    ...partSchema.anyOf,
    // Image fields that older clients send.
    { type: 'object', properties: { url: text }, required: ['url'] },
    { type: 'object', properties: { bytes: text }, required: ['bytes'] },
    {
      type: 'object',
      properties: { content: { type: 'array', minItems: 1, items: partSchema } },
      required: ['content'],
    },
  ],
};

export const EMBED_FIELDS = {
  model: {
    aliases: [],
    kinds: ALL,
    otherwise: 'ignored',
    required: true,
    schema: { type: 'string' },
    meaning: 'The id of a served model (`GET /v1/models`), with or without its organization.',
  },
  input: {
    aliases: ['content', 'texts'],
    kinds: ALL,
    otherwise: 'ignored',
    required: true,
    schema: {
      anyOf: [
        ...itemSchema.anyOf,
        {
          type: 'object',
          properties: { pdf: text, per: { type: 'string', enum: ['page', 'document'], default: 'page' } },
          required: ['pdf'],
        },
        { type: 'array', minItems: 1, maxItems: MAX_INPUTS, items: itemSchema },
      ],
    },
    meaning:
      'What to embed: a string, `{text}`, `{image}`, `{audio}` or `{video}`, or a list of these, with one vector each. `{pdf}` must be the only input and gives one vector for each page, or one in all with `per: document`. `{content: […]}` combines several parts into one vector. Media are a URL, a data URI or base64.',
  },
  task: {
    aliases: ['task_type'],
    kinds: ['text-v3', 'omni-v4', 'text-v5', 'omni-v5', 'code', 'clip-v2', 'sparse'],
    otherwise: 'ignored',
    schema: { type: ['string', 'null'] },
    meaning: 'The purpose of the vectors. It selects the prompt that the model expects before each input.',
  },
  dimensions: {
    aliases: ['output_dimension', 'output_dimensionality'],
    kinds: ALL,
    otherwise: 'refused',
    schema: { type: ['integer', 'null'], minimum: 1 },
    meaning: 'The length of the vectors, for models trained with shortened vectors. Default: the full length.',
  },
  normalized: {
    aliases: [],
    kinds: but('omni-v4', 'code', 'colbert', 'sparse'),
    otherwise: 'ignored',
    schema: { type: ['boolean', 'null'], default: true },
    meaning: 'Whether vectors are scaled to unit length. Default: true.',
  },
  embedding_type: {
    aliases: ['encoding_format', 'encoding_type', 'output_dtype', 'embedding_types'],
    kinds: but('sparse'),
    otherwise: 'ignored',
    schema: {
      anyOf: [
        { enum: EMBEDDING_TYPES },
        { type: 'array', minItems: 1, items: { enum: EMBEDDING_TYPES } },
        { type: 'null' },
      ],
      default: 'float',
    },
    meaning: 'The encoding of vectors. Several encodings give an object with one entry each. Default: float.',
  },
  truncate: {
    aliases: ['truncation'],
    kinds: but('colbert', 'sparse'),
    otherwise: 'ignored',
    schema: { type: ['boolean', 'null'], default: false },
    meaning:
      'Whether an input that is too long for the model is cut at its end. Otherwise the request fails. Default: false.',
  },
  late_chunking: {
    aliases: [],
    kinds: ['text-v3', 'omni-v4'],
    otherwise: 'refused',
    schema: { type: ['boolean', 'null'], default: false },
    meaning:
      'Whether the inputs are consecutive parts of one document, which the model reads as a whole before each part gets its vector. Default: false.',
  },
  return_multivector: {
    aliases: [],
    kinds: ['omni-v4', 'm3'],
    otherwise: 'refused',
    schema: { type: ['boolean', 'null'], default: false },
    meaning: 'Whether each token gets a vector. Default: false.',
  },
  return_sparse: {
    aliases: [],
    kinds: ['m3'],
    otherwise: 'refused',
    schema: { type: ['boolean', 'null'], default: false },
    meaning: 'Whether the answer contains the weights of terms instead of vectors. Default: false.',
  },
  return_tokenized_input: {
    aliases: [],
    kinds: ['omni-v4', 'colbert', 'm3'],
    otherwise: 'refused',
    schema: { type: ['boolean', 'null'], default: false },
    meaning: 'Whether the tokens are returned with their vectors. Default: false.',
  },
  input_type: {
    aliases: [],
    kinds: ALL,
    otherwise: 'ignored',
    schema: { type: ['string', 'null'] },
    meaning:
      '`query` or `document` (also `search_query`, `search_document`): the side of a search, used when there is no task. Default: document.',
  },
} as const satisfies Record<string, EmbedField>;

export type EmbedFieldName = keyof typeof EMBED_FIELDS;
