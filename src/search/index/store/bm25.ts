/** BM25 as SQLite's FTS5 computes it, for stores that do not rank by it themselves. */
import type { WeightedSlot } from './index-store.ts';

export interface RankedPassage {
  /** Number of terms, with repetitions. */
  readonly terms: number;
  /** Number of occurrences of terms, each counted with the weight of its field. Other terms may be missing. */
  readonly hits: ReadonlyMap<string, number>;
}

/** How soon more occurrences of a word stop to matter, and how much the length matters (the constants of FTS5). */
const K1 = 1.2;
const B = 0.75;

/** The sum of the slots' weights, each multiplied by 1 if it occurs once in the text of a passage of average length. */
export function bm25({ terms, hits }: RankedPassage, slots: readonly WeightedSlot[], averageTerms: number): number {
  const length = K1 * (1 - B + (B * terms) / averageTerms);
  let score = 0;
  for (const { slot, weight } of slots) {
    let count = 0;
    for (const [term, hit] of hits)
      if (slot.prefix ? slot.terms.some((prefix) => term.startsWith(prefix)) : slot.terms.includes(term)) count += hit;
    score += (weight * count * (K1 + 1)) / (count + length);
  }
  return score;
}
