/** Splits pages into rounds that a store can write with one statement each. */
import type { PreparedPage } from '../write/prepare-page.ts';

/** Each round is without two versions of a page and without two pages with the same content. The order is kept. */
export function roundsOf(pages: readonly PreparedPage[]): PreparedPage[][] {
  const rounds: PreparedPage[][] = [];
  let names = new Set<string>();
  for (const page of pages) {
    const own = [`key ${page.key}`, `url ${page.url}`, `hash ${page.hash}`];
    if (rounds.length === 0 || own.some((name) => names.has(name))) {
      rounds.push([]);
      names = new Set();
    }
    for (const name of own) names.add(name);
    rounds.at(-1)!.push(page);
  }
  return rounds;
}
