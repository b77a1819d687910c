/** Finds the known name that is closest to a mistyped one. */

/** Optimal string alignment distance: insertions, deletions, replacements and swaps of neighbours. */
function distance(one: string, other: string): number {
  let [before, previous]: [number[], number[]] = [[], Array.from({ length: other.length + 1 }, (_, at) => at)];
  for (let row = 1; row <= one.length; row++) {
    const current = [row];
    for (let at = 1; at <= other.length; at++) {
      const cost = one[row - 1] === other[at - 1] ? 0 : 1;
      let least = Math.min(previous[at]! + 1, current[at - 1]! + 1, previous[at - 1]! + cost);
      const isSwap = row > 1 && at > 1 && one[row - 1] === other[at - 2] && one[row - 2] === other[at - 1];
      if (isSwap) least = Math.min(least, before[at - 2]! + 1);
      current.push(least);
    }
    [before, previous] = [previous, current];
  }
  return previous[other.length]!;
}

/** Maximum share of letters that may differ. */
const MAX_SHARE = 0.4;

/** The known name with the smallest distance; `undefined` if none is close enough. */
export function nearestName(name: string, known: readonly string[]): string | undefined {
  let nearest: string | undefined;
  let least = Math.floor(Math.max(name.length, 3) * MAX_SHARE) + 1;
  for (const candidate of known) {
    const far = distance(name, candidate);
    if (far < least) [nearest, least] = [candidate, far];
  }
  return nearest;
}
