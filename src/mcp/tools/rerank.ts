import * as z from 'zod';
import { RERANK_FIELDS } from '#models/index.ts';
import { defineTool, structuredResult } from '../tool.ts';
import { modelFor } from './models.ts';

const MAX_DOCUMENTS = 500;

export const rerank = defineTool({
  name: 'rerank',
  title: 'Order texts by relevance',
  description:
    'Orders texts by relevance to a query, best first, with a reranking model. The response contains indexes into `documents`, from 0.',
  input: z.strictObject({
    query: z.string().min(1).describe(RERANK_FIELDS.query.meaning),
    documents: z.array(z.string()).min(1).max(MAX_DOCUMENTS).describe('Texts to rank.'),
    top_n: z.int().min(1).optional().describe(RERANK_FIELDS.top_n.meaning),
    model: z.string().optional().describe('Id of a reranking model. Default: the first one served.'),
  }),
  output: z.object({
    model: z.string(),
    results: z.array(z.object({ index: z.int(), relevance_score: z.number() })),
  }),
  openWorld: false,
  steps: () => 1,
  progressMessage: ({ documents }) => `Ranking ${documents.length} texts`,
  async run({ query, documents, top_n, model }, call) {
    const modelId = await modelFor(call, 'rerank', model);
    const request = { model: modelId, query, documents, top_n, return_documents: false };
    const answer = await call.client.rerank(request, { signal: call.signal });
    const results = answer.results.map(({ index, relevance_score }) => ({ index, relevance_score }));
    return structuredResult({ model: answer.model, results });
  },
});
