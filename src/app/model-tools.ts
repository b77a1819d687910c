/** The model host as a tool of other rooms: texts to vectors, texts to scores, by the id of a model. */
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

const EMBEDDING_MODEL = 'lectern-static-v1';
const RERANKER = 'lectern-static-rerank-v1';
const admit = async () => {};
const TEXTS_AT_ONCE = 512;

interface Asked {
  /** The built-in one when unset. */
  readonly model?: string | undefined;
  /** Who takes turns at the model with others. */
  readonly caller: string;
  readonly signal: AbortSignal;
}

interface EmbedTexts extends Asked {
  readonly side: 'query' | 'passage';
  readonly dimensions?: number | undefined;
}

type ScoreTexts = Asked;

/** One vector a text, in order. */
export async function embedTexts(
  { registry, models }: ModelHost,
  texts: readonly string[],
  { model = EMBEDDING_MODEL, side, dimensions, caller, signal }: EmbedTexts,
): Promise<Float32Array[]> {
  const { row, kind } = await registry.embedding(model);
  const task = TASKS[kind]?.values.find((value) => value.endsWith(`.${side}`));
  const input_type = side === 'query' ? 'query' : 'document';
  const vectors: Float32Array[] = [];
  for (let at = 0; at < texts.length; at += TEXTS_AT_ONCE) {
    const input = texts.slice(at, at + TEXTS_AT_ONCE);
    const request = readEmbedRequest({ input, task, input_type, dimensions, truncate: true }, row, kind);
    const { outputs } = await embed(models, row, request, { caller, signal, admit });
    for (const { values } of outputs) vectors.push(finishVector(values, request));
  }
  return vectors;
}

/** One score a text, in order. */
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

const NOBODY = new AbortController().signal;
const CALLER = 'search';
/** Of the built-in model, whose other numbers are spelling, which an index knows by itself. */
const LEARNED_DIMENSIONS = 256;

/**
 * What an index searches by meaning with; undefined for `none`. Throws ModelNotFoundError. Floor and weight of the built-in
 * model did well on titles looked up among pages (bench/search-index.ts); others are trusted as much as words are.
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
    embed: (texts, side, signal = NOBODY) =>
      embedTexts(modelHost, texts, { model, side, dimensions, caller: CALLER, signal }),
  };
}

/** What orders passages at last; undefined for `none`. Throws ModelNotFoundError. */
export async function createPassageReranker(modelHost: ModelHost, model: string): Promise<PassageReranker | undefined> {
  if (model === 'none') return undefined;
  await modelHost.registry.reranker(model);
  return (query, texts, signal = NOBODY) => scoreTexts(modelHost, query, texts, { model, caller: CALLER, signal });
}
