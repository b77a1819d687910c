/** THE table of fields of a rerank request. */
import type { RequestField } from '../inputs/fields.ts';

export const MAX_DOCUMENTS = 2048;

const text = { type: 'string' };
const textObject = { type: 'object', properties: { text }, required: ['text'], additionalProperties: true };

export const RERANK_FIELDS = {
  model: {
    aliases: [],
    required: true,
    schema: { type: 'string' },
    meaning: 'The id of a served reranker (`GET /v1/models`), short or behind its organisation.',
  },
  query: {
    aliases: [],
    required: true,
    schema: { anyOf: [{ type: 'string', minLength: 1 }, textObject] },
    meaning: 'What is looked for.',
  },
  documents: {
    aliases: ['texts'],
    required: true,
    schema: { type: 'array', minItems: 1, maxItems: MAX_DOCUMENTS, items: { anyOf: [text, textObject] } },
    meaning: 'What is ranked: strings, or objects with `text` that are returned as they came.',
  },
  top_n: {
    aliases: ['top_k'],
    schema: { type: ['integer', 'null'], minimum: 1 },
    meaning: 'How many results there are at most. Default: all.',
  },
  return_documents: {
    aliases: ['return_text'],
    schema: { type: ['boolean', 'null'], default: true },
    meaning: 'Whether each result carries its document. Default: true.',
  },
  truncation: {
    aliases: ['truncate'],
    schema: { type: ['boolean', 'null'], default: true },
    meaning:
      'Whether documents that are longer than the model takes are read in windows, of which the best counts, instead of refused. Default: true.',
  },
  max_doc_length: {
    aliases: ['max_tokens_per_doc'],
    schema: { type: ['integer', 'null'], minimum: 1, maximum: 8192 },
    meaning: 'Accepted for rerankers that cut documents; those here read them whole.',
  },
  return_embeddings: {
    aliases: [],
    schema: { type: ['boolean', 'null'], default: false },
    meaning: 'Refused when on: the rerankers here make no vectors.',
  },
} as const satisfies Record<string, RequestField>;

export type RerankFieldName = keyof typeof RERANK_FIELDS;
