/** The answer to reranking that Cohere, vLLM, Infinity and Lectern have in common. */
import { countOf, fieldsOf, listOf } from './fields.ts';
import type { Answer, Reply, RerankRow } from './protocol.ts';

export function parseReranked({ body }: Reply): Answer<RerankRow> {
  const { results, usage } = fieldsOf(body);
  const rows = listOf(results, 'results').map((entry) => {
    const { index, relevance_score: score } = fieldsOf(entry);
    return { index, score };
  });
  return { rows, tokens: countOf(fieldsOf(usage).total_tokens) };
}
