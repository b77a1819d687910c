/** A rerank request: validates a body and returns it as a frozen value with defaults filled in. */

import { createFaults, type Faults } from '../inputs/faults.ts';
import { type Body, type Found, findField, type RequestField, readFlag, readInteger } from '../inputs/fields.ts';
import { readItem } from '../inputs/inputs.ts';

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

export interface RerankRequest {
  readonly query: string;
  /** The texts to rank. */
  readonly texts: readonly string[];
  /** The documents to return, always as objects. */
  readonly documents: readonly object[];
  readonly topN: number;
  readonly returnDocuments: boolean;
  /** Whether documents that are too long may be truncated or split into windows. */
  readonly truncation: boolean;
}

/** Defaults that differ between endpoints. */
export interface RerankDefaults {
  readonly returnDocuments: boolean;
}

/** Reports all faults in one ParamValidationError. Unknown fields are ignored. */
export function readRerankRequest(body: Body, { returnDocuments }: RerankDefaults): RerankRequest {
  const faults = createFaults();
  const find = (name: RerankFieldName) => findField(body, name, RERANK_FIELDS[name]);
  const flag = (name: RerankFieldName) => readFlag(find(name), faults);

  const query = readQuery(find('query'), faults);
  const { texts, documents } = readDocuments(find('documents'), faults);
  const topN = readInteger(find('top_n'), { min: 1 }, faults);
  readInteger(find('max_doc_length'), { min: 1, max: 8192 }, faults);
  if (flag('return_embeddings'))
    faults.add(['return_embeddings'], 'value_error', 'is not supported by this model', true);
  const request: RerankRequest = {
    query,
    texts,
    documents,
    topN: Math.min(topN ?? texts.length, texts.length),
    returnDocuments: flag('return_documents') ?? returnDocuments,
    truncation: flag('truncation') ?? true,
  };
  faults.check();
  return Object.freeze(request);
}

function readQuery(found: Found | undefined, faults: Faults): string {
  if (!found) {
    faults.add(['query'], 'missing', 'is required');
    return '';
  }
  const before = faults.count;
  const query = readItem(found.value, [found.at], { faults });
  if (!query && faults.count === before) faults.add([found.at], 'too_short', 'must not be empty', found.value);
  return query;
}

function readDocuments(found: Found | undefined, faults: Faults): { texts: string[]; documents: object[] } {
  const none = { texts: [], documents: [] };
  if (!found) {
    faults.add(['documents'], 'missing', 'is required');
    return none;
  }
  const { at, value } = found;
  if (!Array.isArray(value)) faults.add([at], 'list_type', 'must be a list', value);
  else if (!value.length) faults.add([at], 'too_short', 'must have at least one item', value);
  else if (value.length > MAX_DOCUMENTS) {
    faults.add([at], 'too_long', `must have at most ${MAX_DOCUMENTS} items, not ${value.length}`, value);
  } else {
    const texts = value.map((item, index) => readItem(item, [at, index], { faults }));
    return { texts, documents: value.map((item) => (typeof item === 'string' ? { text: item } : item)) };
  }
  return none;
}
