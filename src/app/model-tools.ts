/** Embedding and reranking for other modules, which name a model by its id. */
import { NEVER_ABORTED } from '#concurrency/never-aborted.ts';
import {
  embed,
  finishVector,
  type ModelHost,
  readEmbedRequest,
  readRerankRequest,
  rerank,
  TASKS,
} from '#models/index.ts';
import type { IndexEmbedder, PassageReranker } from '#search/index.ts';

const EMBEDDING_MODEL = 'lectern-static-v2';
const RERANKER = 'lectern-static-rerank-v2';
const admit = async () => {};
const MAX_TEXTS_PER_CALL = 512;

interface ModelCall {
  /** Id of the model. Default: the built-in model. */
  readonly model?: string | undefined;
  /** Identifies the caller, because a model's queue alternates between callers. */
  readonly caller: string;
  readonly signal: AbortSignal;
}

interface EmbedTexts extends ModelCall {
  readonly side: 'query' | 'passage';
  readonly dimensions?: number | undefined;
}

type ScoreTexts = ModelCall;

/** Returns one vector per text, in order. */
export async function embedTexts(
  { registry, models }: ModelHost,
  texts: readonly string[],
  { model = EMBEDDING_MODEL, side, dimensions, caller, signal }: EmbedTexts,
): Promise<Float32Array[]> {
  const { row, kind } = await registry.embedding(model);
  const task = TASKS[kind]?.values.find((value) => value.endsWith(`.${side}`));
  const input_type = side === 'query' ? 'query' : 'document';
  const vectors: Float32Array[] = [];
  for (let at = 0; at < texts.length; at += MAX_TEXTS_PER_CALL) {
    // A caller of the API gets an error for white space; here, one blank passage must not fail the others.
    const input = texts.slice(at, at + MAX_TEXTS_PER_CALL).map((text) => (text.trim() === '' ? '' : text));
    const request = readEmbedRequest({ input, task, input_type, dimensions, truncate: true }, row, kind);
    const { outputs } = await embed(models, row, request, { caller, signal, admit });
    for (const { values } of outputs) vectors.push(finishVector(values, request));
  }
  return vectors;
}

/** Returns one score per text, in order. */
export async function scoreTexts(
  { registry, models }: ModelHost,
  query: string,
  texts: readonly string[],
  { model = RERANKER, caller, signal }: ScoreTexts,
): Promise<number[]> {
  const { row } = await registry.reranker(model);
  const request = readRerankRequest({ query, documents: texts }, { returnDocuments: false });
  const { results } = await rerank(models, row, request, { caller, signal, admit });
  const scores = new Array<number>(texts.length).fill(0);
  for (const { index, score } of results) scores[index] = score;
  return scores;
}

const CALLER = 'search';
/**
 * How search uses the built-in model. The first 256 numbers represent meaning, the others spelling, which the index
 * matches itself. `spread`: mean cosine of a query with passages, and deviation of the cosines, in eighteen retrieval
 * sets.
 */
export const BUILT_IN_SEARCH = { dimensions: 256, spread: { mean: 0.12, deviation: 0.105 }, weight: 1 };
/** A model that the operator chose instead has about the same weight as the words. Assumed, not measured. */
const OTHER_MODELS_WEIGHT = 2;

/**
 * The embedder of search indexes; `undefined` for `none`. Throws ModelNotFoundError. The weights of search were fitted
 * with the built-in model, and so was its spread. The spread of other models is measured on the pages of the index.
 */
export async function createIndexEmbedder(modelHost: ModelHost, model: string): Promise<IndexEmbedder | undefined> {
  if (model === 'none') return undefined;
  const { row } = await modelHost.registry.embedding(model);
  const isBuiltIn = row.id === EMBEDDING_MODEL;
  const built = isBuiltIn ? BUILT_IN_SEARCH : { dimensions: row.dimensions, weight: OTHER_MODELS_WEIGHT };
  const { dimensions } = built;
  return {
    id: row.id,
    ...built,
    embed: (texts, side, signal = NEVER_ABORTED) =>
      embedTexts(modelHost, texts, { model, side, dimensions, caller: CALLER, signal }),
  };
}

/** The reranker of passages; `undefined` for `none`. Throws ModelNotFoundError. */
export async function createPassageReranker(modelHost: ModelHost, model: string): Promise<PassageReranker | undefined> {
  if (model === 'none') return undefined;
  await modelHost.registry.reranker(model);
  return (query, texts, signal = NEVER_ABORTED) =>
    scoreTexts(modelHost, query, texts, { model, caller: CALLER, signal });
}
