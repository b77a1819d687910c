/** Voyage's API: embeddings, multimodal embeddings and reranking. */
import type { CompatCall, Dialect } from '../dialect.ts';
import { type StatusTable, sendJson, statusOf } from '../errors.ts';
import { readFields, renameFields } from '../fields.ts';
import { embed, embedMultimodal } from './embed.ts';
import { EMBED_FIELDS, MULTIMODAL_FIELDS, RERANK_FIELDS } from './fields.ts';

const STATUSES: StatusTable = {
  TierFeatureConstraintError: 403,
  SubmittedDataMalformedError: 400,
  DownstreamServiceFailureError: 503,
};

async function rerank(call: CompatCall): Promise<unknown> {
  const asked = readFields(RERANK_FIELDS, call.body);
  const { model, query, documents, truncation, top_k: top_n } = asked;
  const { name, results, tokens } = await call.native
    .rerank(call, { model, query, documents, truncation, top_n })
    .catch(renameFields({ top_n: 'top_k' }));
  return sendJson(call.reply, {
    object: 'list',
    data: results.map(({ index, score }) => ({
      index,
      relevance_score: score,
      ...(asked.return_documents && { document: (documents as unknown[])[index] }),
    })),
    model: name,
    usage: { total_tokens: tokens },
  });
}

export const voyage: Dialect = {
  name: 'voyage',
  title: 'Voyage',
  keyPlaces: ['bearer'],
  writeError: (failure, _, reply) => sendJson(reply.code(statusOf(failure, STATUSES)), { detail: failure.message }),
  routes: [
    {
      method: 'POST',
      url: '/v1/embeddings',
      access: 'embeddings',
      summary: 'Embeds texts.',
      fields: EMBED_FIELDS,
      handler: embed,
    },
    {
      method: 'POST',
      url: '/v1/multimodalembeddings',
      access: 'embeddings',
      summary: 'Embeds inputs of texts and images.',
      fields: MULTIMODAL_FIELDS,
      handler: embedMultimodal,
    },
    {
      method: 'POST',
      url: '/v1/rerank',
      access: 'rerank',
      summary: 'Ranks texts.',
      fields: RERANK_FIELDS,
      handler: rerank,
    },
  ],
};
