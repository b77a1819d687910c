/**
 * Retrieves passages by meaning. Embeds passages that have no vector yet, and compares their vectors with that of a
 * query.
 */

import { type Spread, standardSimilarity } from '../../relevance.ts';
import type { IndexEmbedder } from '../local-index.ts';
import { type Filters, isUnfiltered } from '../query/filters.ts';
import type { IndexStore, NearPassage } from '../store/index-store.ts';
import { createMissingEmbedder } from './embed-missing.ts';
import { createSpreadMeter } from './measure-spread.ts';
import { codeBytes, normalize, similarity } from './quantize.ts';
import { createShortlist } from './shortlist.ts';

export interface VectorSearch {
  /** Size of a vector on disk, in bytes. */
  readonly bytesPerVector: number;
  /** Compares passages with a query; `undefined` while the embedding model is unavailable. */
  compare(words: string, filters: Filters, limit: number): Promise<Comparison | undefined>;
  /** Embeds passages without a vector. Resolves when none are left or the model is unavailable. */
  embedMissing(): Promise<void>;
  /** Stops embedding until `embedMissing` is called again. */
  pause(): Promise<void>;
  /** Discards the vectors in memory. Called after all passages have been removed. */
  forget(): void;
  close(): Promise<void>;
}

/** All similarities are standard (`standardSimilarity`). */
export interface Comparison {
  /** The closest passages that are more similar than unrelated texts, best first. */
  readonly near: readonly NearPassage[];
  /** Returns the similarities of these passages. Those without a vector are missing. */
  similarities(ids: readonly number[]): Promise<Map<number, number>>;
}

/** Sign bits are only approximate, so this many candidates per result are compared exactly. */
const CANDIDATES_PER_RESULT = 6;
const READ_AT_ONCE = 5_000;
/** Maximum time that a search waits for passages that are being embedded. */
const MAX_EMBED_WAIT_MS = 250;

export function createVectorSearch(
  store: IndexStore,
  embedder: IndexEmbedder,
  inform?: (message: string) => void,
): VectorSearch {
  const { id: model, dimensions } = embedder;
  const shortlist = createShortlist(dimensions);
  let nextSeq = 0;
  const missing = createMissingEmbedder(store, embedder, inform);
  const meter = createSpreadMeter(store, embedder);

  async function readNew(): Promise<void> {
    for (;;) {
      const rows = await store.codesFrom(model, Math.max(0, nextSeq - store.overlap), READ_AT_ONCE);
      for (const { id, code, owner } of rows) {
        if (code.length === codeBytes(dimensions)) shortlist.add(id, code, owner);
      }
      const last = rows.at(-1)?.seq ?? -1;
      if (last < nextSeq || rows.length < READ_AT_ONCE) {
        nextSeq = Math.max(nextSeq, last + 1);
        return;
      }
      nextSeq = last + 1;
    }
  }

  async function compare(words: string, filters: Filters, limit: number): Promise<Comparison | undefined> {
    const vector = await embedQuery(words);
    if (!vector) return undefined;
    // Another process may have added pages, or the model may have been unavailable before.
    await Promise.race([missing.embed(), sleep(MAX_EMBED_WAIT_MS)]);
    const spread = await meter.spread();
    const near = store.nearest
      ? (await store.nearest(model, vector, filters, limit)).map((one) => standard(one, spread))
      : await nearestInMemory(vector, filters, limit, spread);
    return {
      near: near.filter((one) => one.similarity > 0).slice(0, limit),
      similarities: (ids) => similarities(vector, ids, spread),
    };
  }

  async function nearestInMemory(vector: Float32Array, filters: Filters, limit: number, spread: Spread) {
    await readNew();
    const candidateFilter = isUnfiltered(filters)
      ? { owners: filters.owners }
      : { among: await store.filteredIds(filters) };
    const candidates = shortlist.nearest(vector, limit * CANDIDATES_PER_RESULT, candidateFilter);
    const known = await similarities(vector, candidates, spread);
    const near: NearPassage[] = [];
    for (const id of candidates) {
      const found = known.get(id);
      if (found === undefined) shortlist.remove(id);
      else near.push({ id, similarity: found });
    }
    return near.sort((a, b) => b.similarity - a.similarity || a.id - b.id);
  }

  async function similarities(vector: Float32Array, ids: readonly number[], spread: Spread) {
    const found = new Map<number, number>();
    for (const [id, code] of await store.codes(model, ids))
      found.set(id, standardSimilarity(similarity(vector, code), spread));
    return found;
  }

  /** Returns `undefined` while the model is unavailable. The query is still searched by words. */
  async function embedQuery(words: string): Promise<Float32Array | undefined> {
    try {
      const [vector] = await embedder.embed([words], 'query');
      return vector && normalize(vector);
    } catch {
      return undefined;
    }
  }

  return {
    bytesPerVector: codeBytes(dimensions) + ROW_BYTES,
    compare,
    embedMissing: missing.embed,
    pause: missing.pause,
    forget() {
      shortlist.clear();
      nextSeq = 0;
      missing.forget();
      meter.forget();
    },
    close: missing.close,
  };
}

const standard = ({ id, similarity: cosine }: NearPassage, spread: Spread): NearPassage => ({
  id,
  similarity: standardSimilarity(cosine, spread),
});

/** Approximate size of a vector row, excluding the vector. */
const ROW_BYTES = 60;

const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms).unref());
