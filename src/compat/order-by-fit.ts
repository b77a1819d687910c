/** Orders texts by how well they fit a query, with the built-in reranker. It is charged as a rerank request. */
import type { CompatCall } from './dialect.ts';

const RERANKER = 'lectern-static-rerank-v2';

/** Returns the indexes of the texts that fit best, best first. Throws ModelNotFoundError if the reranker is turned off. */
export async function orderByFit(
  call: CompatCall,
  query: string,
  texts: readonly string[],
  limit = texts.length,
): Promise<number[]> {
  const body = { model: RERANKER, query, documents: texts, top_n: limit };
  const { results } = await call.native.rerank(call, body);
  return results.map(({ index }) => index);
}
