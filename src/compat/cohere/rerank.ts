/** Cohere's `/v1/rerank` and `/v2/rerank`. */
import { problem } from '#errors.ts';
import { ownValue } from '#own-value.ts';
import type { CompatCall } from '../dialect.ts';
import { sendJson } from '../errors.ts';
import { readFields } from '../fields.ts';
import { sentFields } from '../ignored.ts';
import { type CohereRerank, RERANK_FIELDS } from './fields.ts';
import { metaOf } from './meta.ts';

/** Documents are always read whole. */
const IGNORED = ['max_tokens_per_doc', 'max_chunks_per_doc', 'priority'];

export async function rerank(call: CompatCall, version: 1 | 2): Promise<unknown> {
  const asked = readFields(RERANK_FIELDS, call.body);
  const { model, query, top_n } = asked;
  const documents = documentsOf(asked);
  const { results, tokens } = await call.native.rerank(call, { model, query, documents, top_n });
  const ignored = sentFields(call.body as Record<string, unknown>, IGNORED);
  return sendJson(call.reply, {
    id: call.request.id,
    results: results.map(({ index, score }) => ({
      index,
      relevance_score: score,
      ...(asked.return_documents && { document: returned((asked.documents as unknown[])[index]) }),
    })),
    meta: { ...metaOf({ version, billed: { search_units: 1 }, ignored }), tokens: { input_tokens: tokens } },
  });
}

/** The texts to rank: of objects, the fields to rank by. Other values are refused by the reranker. */
function documentsOf({ documents, rank_fields: fields = ['text'] }: CohereRerank): unknown {
  if (!Array.isArray(documents)) return documents;
  return documents.map((document, at) => {
    if (typeof document !== 'object' || document === null) return document;
    const texts = fields.map((field) => ownValue(document as Record<string, unknown>, field));
    const missing = texts.findIndex((text) => typeof text !== 'string');
    if (missing < 0) return texts.join('\n');
    const path = `documents.${at}.${fields[missing]}`;
    throw problem('ParamValidationError', { path, message: `${path} must be a string` });
  });
}

const returned = (document: unknown) => (typeof document === 'string' ? { text: document } : document);
