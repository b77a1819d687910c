/** Reciprocal rank fusion: merges several rankings into one (Cormack, Clarke and Büttcher 2009). */

/** Smoothing constant from the paper. The larger it is, the smaller the advantage of the first ranks. */
const SMOOTHING = 60;

export interface RankedList<Item> {
  /** Best first. A repeated item counts once, at its first rank. */
  readonly items: readonly Item[];
  /** Weight of the list. Default: 1. */
  readonly weight?: number;
}

export interface FusedRank<Key> {
  readonly key: Key;
  /** Between 0 and 1. */
  readonly score: number;
}

/**
 * Returns all items of the lists, best first. Items with equal scores stay in the order of the lists. `keyOf`
 * identifies equal items. It returns `undefined` for an item to omit; the item's rank remains empty.
 */
export function fuseRanks<Item, Key>(
  lists: readonly RankedList<Item>[],
  keyOf: (item: Item) => Key | undefined,
): FusedRank<Key>[] {
  const scores = new Map<Key, number>();
  const highest = lists.reduce((sum, { weight = 1 }) => sum + weight, 0) / (SMOOTHING + 1);
  for (const { items, weight = 1 } of lists) {
    const seen = new Set<Key>();
    for (const [rank, item] of items.entries()) {
      const key = keyOf(item);
      if (key === undefined || seen.has(key)) continue;
      seen.add(key);
      scores.set(key, (scores.get(key) ?? 0) + weight / (SMOOTHING + 1 + rank) / highest);
    }
  }
  return [...scores].map(([key, score]) => ({ key, score })).sort((a, b) => b.score - a.score);
}
