/** Reranking: scores each document against a query, and sorts by score, best first. */
import { problem } from '#errors.ts';
import { traceStep } from '#telemetry/trace.ts';
import type { Prepared } from '../backend.ts';
import { tokensOf } from '../embed/embed.ts';
import type { RerankRow } from '../registry/catalogue.ts';
import type { ModelRuntime, RequestContext } from '../registry/model-runtime.ts';
import type { RerankRequest } from './request.ts';

export interface Ranked {
  /** Position of the document in the request. */
  readonly index: number;
  /** Between 0 and 1, rounded to 8 decimals. */
  readonly score: number;
}

export interface Ranking {
  /** Best first. Documents with equal scores stay in the order of the request. */
  readonly results: readonly Ranked[];
  /** Number of tokens in all processed pairs. */
  readonly tokens: number;
  /** Whether the query contains nothing that the model can match, which makes the scores meaningless. */
  readonly isBlind: boolean;
}

/** Throws TokenLimitExceededError if a pair is too long and `truncation` is off. */
export async function rerank(
  models: ModelRuntime,
  row: RerankRow,
  request: RerankRequest,
  { caller, signal, admit, trace }: RequestContext,
): Promise<Ranking> {
  const { query, texts, topN, truncation } = request;
  const characters = texts.reduce((sum, text) => sum + text.length, query.length);
  return models.withReranker(row, { characters, signal, trace }, async ({ backend, queue }, within) => {
    const options = { signal: within, ...(truncation && { maxTokens: row.contextTokens }) };
    const preparing = () => backend.prepare(query, texts, options);
    const { pairs, documents, isBlind = false } = await traceStep('tokenize', trace, preparing);
    if (!truncation) refuseTooLong(pairs, documents, row);
    const tokens = tokensOf(pairs);
    await admit(tokens);
    const scores = await queue.run({ items: pairs, lane: ONE_LANE, caller, signal: within, trace });
    trace?.count('inputs', pairs.length);
    const best = documents.map((positions, index) => ({ index, score: bestOf(positions, scores) }));
    best.sort((a, b) => b.score - a.score || a.index - b.index);
    return { results: best.slice(0, topN), tokens, isBlind: isBlind || !VISIBLE.test(query) };
  });
}

const ONE_LANE = { key: '' };
/** Anything except white space, control characters, format characters and lone surrogates. */
const VISIBLE = /[^\s\p{Cc}\p{Cf}\p{Cs}]/u;

/** Scores are rounded before sorting, so that documents with equal displayed scores stay in the caller's order. */
const bestOf = (positions: readonly number[], scores: readonly number[]): number =>
  Math.round(positions.reduce((best, position) => Math.max(best, scores[position]!), 0) * 1e8) / 1e8;

function refuseTooLong(pairs: readonly Prepared[], documents: readonly (readonly number[])[], row: RerankRow): void {
  if (row.runs.on === 'remote') return;
  const { contextTokens } = row;
  const long = (position: number) => pairs[position]!.fullTokens > contextTokens;
  const index = documents.findIndex((positions) => positions.length > 1 || positions.some(long));
  if (index < 0) return;
  const count = documents[index]!.reduce((most, position) => Math.max(most, pairs[position]!.fullTokens), 0);
  throw problem('TokenLimitExceededError', {
    message: `Input text exceeds the model maximum of ${contextTokens} tokens: the query with document ${index} has ${count}`,
  });
}
