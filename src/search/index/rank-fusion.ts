/** Several orders as one, by reciprocal rank (Cormack, Clarke, Büttcher 2009). */

/** How much the first places count more than the next; the value of the paper. */
const SMOOTHING = 60;

export interface RankedList {
  /** Best first, none twice. */
  readonly ids: readonly number[];
  readonly weight: number;
}

/** All ids, best first; scores are between 0 and 1. Equal ones are in the order of the lists. */
export function fuse(lists: readonly RankedList[]): { readonly id: number; readonly score: number }[] {
  const scores = new Map<number, number>();
  const whole = lists.reduce((sum, { weight }) => sum + weight, 0) / (SMOOTHING + 1);
  for (const { ids, weight } of lists) {
    for (const [place, id] of ids.entries()) {
      scores.set(id, (scores.get(id) ?? 0) + weight / (SMOOTHING + 1 + place) / whole);
    }
  }
  return [...scores].map(([id, score]) => ({ id, score })).sort((a, b) => b.score - a.score);
}
