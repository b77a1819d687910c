/**
 * Retrieves passages by meaning. Embeds passages that have no vector yet, and compares their vectors with that of a
 * query.
 */

import type { IndexEmbedder } from '../local-index.ts';
import { type Filters, isUnfiltered } from '../query/filters.ts';
import type { IndexStore } from '../store/index-store.ts';
import { createMissingEmbedder, OVERLAP } from './embed-missing.ts';
import { codeBytes, normalize, similarity } from './quantize.ts';
import { createShortlist } from './shortlist.ts';

export interface VectorSearch {
  /** Size of a vector on disk, in bytes. */
  readonly bytesPerVector: number;
  /** Returns the passages closest to the query, best first. Empty while the embedding model is unavailable. */
  nearest(words: string, filters: Filters, limit: number): Promise<number[]>;
  /** Embeds passages without a vector. Resolves when none are left or the model is unavailable. */
  embedMissing(): Promise<void>;
  /** Stops embedding until `embedMissing` is called again. */
  pause(): Promise<void>;
  /** Discards the vectors in memory. Called after all passages have been removed. */
  forget(): void;
  close(): Promise<void>;
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
  const { id: model, dimensions, floor } = embedder;
  const shortlist = createShortlist(dimensions);
  let nextSeq = 0;
  const missing = createMissingEmbedder(store, embedder, inform);

  async function readNew(): Promise<void> {
    for (;;) {
      const rows = await store.codesFrom(model, Math.max(0, nextSeq - OVERLAP), READ_AT_ONCE);
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

  async function nearest(words: string, filters: Filters, limit: number): Promise<number[]> {
    const vector = await embedQuery(words);
    if (!vector) return [];
    // Another process may have added pages, or the model may have been unavailable before.
    await Promise.race([missing.embed(), sleep(MAX_EMBED_WAIT_MS)]);
    if (store.nearest) {
      const near = await store.nearest(model, vector, filters, limit);
      return near.filter((one) => one.similarity >= floor).map(({ id }) => id);
    }
    await readNew();
    const candidateFilter = isUnfiltered(filters)
      ? { owners: filters.owners }
      : { among: await store.filteredIds(filters) };
    const candidates = shortlist.nearest(vector, limit * CANDIDATES_PER_RESULT, candidateFilter);
    const codes = await store.codes(model, candidates);
    const near: { id: number; similarity: number }[] = [];
    for (const id of candidates) {
      const code = codes.get(id);
      if (!code) shortlist.remove(id);
      else near.push({ id, similarity: similarity(vector, code) });
    }
    return near
      .filter((one) => one.similarity >= floor)
      .sort((a, b) => b.similarity - a.similarity)
      .slice(0, limit)
      .map(({ id }) => id);
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
    nearest,
    embedMissing: missing.embed,
    pause: missing.pause,
    forget() {
      shortlist.clear();
      nextSeq = 0;
      missing.forget();
    },
    close: missing.close,
  };
}

/** Approximate size of a vector row, excluding the vector. */
const ROW_BYTES = 60;

const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms).unref());
