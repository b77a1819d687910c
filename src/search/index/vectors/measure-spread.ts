/**
 * Measures how the cosines of unrelated texts are distributed in a model, so that cosines of different models can be
 * compared: some models give unrelated texts 0.1, others 0.8.
 */
import { type Spread, spreadOf } from '../../relevance.ts';
import type { IndexEmbedder } from '../local-index.ts';
import type { IndexStore } from '../store/index-store.ts';
import { normalize, quantizedValues, similarity } from './quantize.ts';

export interface SpreadMeter {
  spread(): Promise<Spread>;
  forget(): void;
}

/** Number of vectors to compare. The oldest ones are used, so that results do not change as the index grows. */
const SAMPLE = 300;
/** Each vector is compared with those that come so many places after it. Neighbors may be of the same page. */
const STEPS = [7, 17, 41, 89];

export function createSpreadMeter(store: IndexStore, { id, spread: known }: IndexEmbedder): SpreadMeter {
  let measured: Spread | undefined;
  return {
    async spread() {
      if (known) return known;
      if (measured) return measured;
      const rows = await store.codesFrom(id, 0, SAMPLE);
      const spread = measure(rows.map(({ code }) => code));
      if (rows.length === SAMPLE) measured = spread;
      return spread;
    },
    forget() {
      measured = undefined;
    },
  };
}

function measure(codes: readonly Uint8Array[]): Spread {
  const cosines: number[] = [];
  for (const [at, code] of codes.entries()) {
    const vector = normalize(Float32Array.from(quantizedValues(code)));
    for (const step of STEPS) {
      const other = codes[at + step];
      if (other) cosines.push(similarity(vector, other));
    }
  }
  return spreadOf(cosines);
}
