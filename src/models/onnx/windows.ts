/** Splits the tokens of a long document into windows. */

/** Windows overlap by an eighth, so that text at a boundary is complete in one of them. */
export function windowsOf(ids: readonly number[], maxTextTokens: number): (readonly number[])[] {
  if (ids.length <= maxTextTokens) return [ids];
  const step = Math.max(1, maxTextTokens - Math.floor(maxTextTokens / 8));
  const windows: (readonly number[])[] = [];
  for (let from = 0; ; from += step) {
    windows.push(ids.slice(from, from + maxTextTokens));
    if (from + maxTextTokens >= ids.length) return windows;
  }
}
