import * as z from 'zod';
import { defineTool, structuredResult } from '../tool.ts';
import { modelFor } from './models.ts';

const MAX_DOCUMENTS = 500;

export const rerank = defineTool({
  name: 'rerank',
  title: 'Order texts by relevance',
  description: 'Orders texts by relevance to a query, best first. Returns indexes into `documents`.',
  input: z.strictObject({
    query: z.string().min(1),
    documents: z.array(z.string()).min(1).max(MAX_DOCUMENTS),
    top_n: z.int().min(1).optional(),
    model: z.string().optional(),
  }),
  output: z.looseObject({
    model: z.string(),
    results: z.array(z.looseObject({ index: z.int(), relevance_score: z.number() })),
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
