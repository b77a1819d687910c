/** Fields of a rerank request. */
import type { RequestField } from '../inputs/fields.ts';

export const MAX_DOCUMENTS = 2048;

const text = { type: 'string' };
const textObject = { type: 'object', properties: { text }, required: ['text'], additionalProperties: true };

export const RERANK_FIELDS = {
  model: {
    aliases: [],
    required: true,
    schema: { type: 'string' },
    meaning: 'The id of a served reranker (`GET /v1/models`), with or without its organization.',
  },
  query: {
    aliases: [],
    required: true,
    schema: { anyOf: [{ type: 'string', minLength: 1 }, textObject] },
    meaning: 'The query to rank by.',
  },
  documents: {
    aliases: ['texts'],
    required: true,
    schema: { type: 'array', minItems: 1, maxItems: MAX_DOCUMENTS, items: { anyOf: [text, textObject] } },
    meaning: 'The documents to rank: strings, or objects with `text`, which are returned unchanged.',
  },
  top_n: {
    aliases: ['top_k'],
    schema: { type: ['integer', 'null'], minimum: 1 },
    meaning: 'The maximum number of results. Default: all.',
  },
  return_documents: {
    aliases: ['return_text'],
    schema: { type: ['boolean', 'null'], default: true },
    meaning: 'Whether each result includes its document. Default: true.',
  },
  truncation: {
    aliases: ['truncate'],
    schema: { type: ['boolean', 'null'], default: true },
    meaning:
      'Whether documents that are too long for the model are scored in windows, of which the best counts. Otherwise the request fails. Default: true.',
  },
  max_doc_length: {
    aliases: ['max_tokens_per_doc'],
    schema: { type: ['integer', 'null'], minimum: 1, maximum: 8192 },
    meaning: 'Accepted for compatibility and ignored: documents are always read whole.',
  },
  return_embeddings: {
    aliases: [],
    schema: { type: ['boolean', 'null'], default: false },
    meaning: 'Not supported: true is refused, because the rerankers return no vectors.',
  },
} as const satisfies Record<string, RequestField>;

export type RerankFieldName = keyof typeof RERANK_FIELDS;
