/** Parses the rerank response format shared by Cohere, vLLM, Infinity and Lectern. */
import { fieldsOf, listOf } from './fields.ts';
import type { Reply, RerankRow } from './protocol.ts';

export const parseReranked = ({ body }: Reply): readonly RerankRow[] =>
  listOf(fieldsOf(body).results, 'results').map((entry) => {
    const { index, relevance_score: score } = fieldsOf(entry);
    return { index, score };
  });
