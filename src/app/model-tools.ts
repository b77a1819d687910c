/** Embedding and reranking for other modules, which name a model by its id. */
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

const NEVER_ABORTED = new AbortController().signal;
const CALLER = 'search';
/**
 * The dimensions of the built-in model that represent meaning. The others represent spelling, which the index matches
 * itself.
 */
const LEARNED_DIMENSIONS = 256;

/**
 * The embedder of search indexes; `undefined` for `none`. Throws ModelNotFoundError. A benchmark
 * (bench/search-index.ts) was used to choose the minimum cosine and the weight of the built-in model. Other models have
 * the same weight as word matches.
 */
export async function createIndexEmbedder(modelHost: ModelHost, model: string): Promise<IndexEmbedder | undefined> {
  if (model === 'none') return undefined;
  const { row } = await modelHost.registry.embedding(model);
  const isBuiltIn = row.id === EMBEDDING_MODEL;
  const dimensions = isBuiltIn ? LEARNED_DIMENSIONS : row.dimensions;
  return {
    id: row.id,
    dimensions,
    floor: isBuiltIn ? 0.25 : 0,
    weight: isBuiltIn ? 0.3 : 1,
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
