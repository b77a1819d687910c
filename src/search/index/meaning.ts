/** Passages by meaning: vectors are made for whatever has none yet, and compared with that of a query. */
import { codeBytes, encode, similarity, unit } from './codes.ts';
import { demandsNothing, type Filters } from './filters.ts';
import type { IndexStore, LackingRow } from './index-store.ts';
import type { IndexEmbedder } from './local-index.ts';
import { plainOf } from './plain.ts';
import { createShortlist } from './shortlist.ts';

export interface Meaning {
  /** What a vector takes on disk. */
  readonly bytesEach: number;
  /** Passages about what the query is about, best first. Empty while no vectors can be had. */
  nearest(words: string, filters: Filters, limit: number): Promise<number[]>;
  /** Makes what vectors are missing; resolves when there is nothing more to make, or it cannot be made now. */
  catchUp(): Promise<void>;
  /** Ends the making of vectors until it is asked for again. */
  pause(): Promise<void>;
  /** After all passages were removed. */
  forget(): void;
  close(): Promise<void>;
}

const BATCH = 64;
/** Signs tell the nearest roughly: of so many for each that is wanted the exact order is made. */
const LOOKED_AT = 6;
const READ_AT_ONCE = 5_000;
/** Numbers are given out before their rows are there to be read, where several servers write. */
const OVERLAP = 200;
/** A search waits so long for vectors that are being made. */
const PATIENCE_MS = 250;

export function createMeaning(store: IndexStore, embedder: IndexEmbedder): Meaning {
  const { id: model, dimensions, floor } = embedder;
  const shortlist = createShortlist(dimensions);
  let nextSeq = 0;
  let madeUpTo = 0;
  let making: Promise<void> | undefined;
  let again = false;
  let stopped = false;

  async function make(): Promise<void> {
    do {
      again = false;
      // Ids grow, so what is new comes after what was seen.
      let after = Math.max(0, madeUpTo - OVERLAP);
      for (;;) {
        const rows = stopped ? [] : await store.lacking(model, after, BATCH);
        if (rows.length === 0) break;
        const vectors = await embedder.embed(rows.map(textOf), 'passage');
        await store.keepCodes(
          model,
          rows.map(({ id }, at) => ({ id, code: encode(vectors[at]!) })),
        );
        after = rows.at(-1)!.id;
        madeUpTo = Math.max(madeUpTo, after);
      }
    } while (again && !stopped);
  }

  function catchUp(): Promise<void> {
    again = true;
    making ??= make()
      // A model that is away now may be there at the next page.
      .catch(() => {})
      .finally(() => {
        making = undefined;
      });
    return making;
  }

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
    const vector = await vectorOf(words);
    if (!vector) return [];
    // Another process may have added pages without vectors, or the model was away.
    await Promise.race([catchUp(), sleep(PATIENCE_MS)]);
    if (store.nearest) {
      const near = await store.nearest(model, vector, filters, limit);
      return near.filter((one) => one.similarity >= floor).map(({ id }) => id);
    }
    await readNew();
    const within = demandsNothing(filters) ? { owners: filters.owners } : { among: await store.within(filters) };
    const looked = shortlist.nearest(vector, limit * LOOKED_AT, within);
    const codes = await store.codes(model, looked);
    const near: { id: number; similarity: number }[] = [];
    for (const id of looked) {
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

  /** Undefined while the model is away: words are looked up all the same. */
  async function vectorOf(words: string): Promise<Float32Array | undefined> {
    try {
      const [vector] = await embedder.embed([words], 'query');
      return vector && unit(vector);
    } catch {
      return undefined;
    }
  }

  return {
    bytesEach: codeBytes(dimensions) + ROW_BYTES,
    nearest,
    catchUp,
    async pause() {
      stopped = true;
      await making;
      stopped = false;
    },
    forget() {
      shortlist.clear();
      nextSeq = 0;
      madeUpTo = 0;
    },
    async close() {
      stopped = true;
      await making;
    },
  };
}

const ROW_BYTES = 60;

const textOf = ({ title, heading, text }: LackingRow): string =>
  [title, heading, plainOf(text)].filter((part) => part !== '').join('\n');

const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms).unref());
