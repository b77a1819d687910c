/** Several lists made one: a page once, best first. */
import { isTrackingParameter } from '#net/tracking-parameters.ts';
import { cleanUrl } from '#reader/index.ts';
import type { Hit } from './hit.ts';
import type { SearchKind } from './query.ts';

/** How little the first places count above the next ones (Cormack, Clarke and Büttcher 2009). */
const RANK_CONSTANT = 60;

/** The address as results show it; undefined when nothing can be read there. */
export function shownUrl(url: string): string | undefined {
  try {
    return cleanUrl(url);
  } catch {
    return undefined;
  }
}

/** Whether a hit is a file that was put into the own index: nobody reads it anew, and nobody else may name one. */
export const isIndexedFile = ({ url, passages }: Hit): boolean => passages !== undefined && url.startsWith('file:///');

/** Equal for addresses that mean the same page: never fetched, never shown. */
export function pageKey(address: string): string {
  const url = new URL(address);
  const kept = [...url.searchParams]
    .filter(([name]) => !isTrackingParameter(name))
    .sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));
  const path = url.pathname.replace(/\/(?:index\.(?:html?|php))?$/i, '');
  const route = url.hash.startsWith('#/') || url.hash.startsWith('#!') ? url.hash : '';
  return `${url.host.replace(/^www\./, '')}${path}?${new URLSearchParams(kept)}${route}`;
}

/** What a result is once: a page, or one of the pictures on it. `hit.url` is one that is shown. */
export const resultKey = ({ url, imageUrl }: Hit, kind: SearchKind): string =>
  kind === 'images' && imageUrl ? `${pageKey(url)} ${imageUrl}` : pageKey(url);

/** What the same page's hits say together: the first word on each field counts. */
const merged = (first: Hit, second: Hit): Hit => ({
  ...second,
  ...first,
  title: first.title || second.title,
  description: first.description || second.description,
});

/**
 * The hits of all lists in the order of their summed reciprocal ranks, equal ones in the order of the lists. One list
 * stays as it is, but for pages that are there twice and addresses that cannot be read.
 */
export function fuse(lists: readonly (readonly Hit[])[], kind: SearchKind): Hit[] {
  const found = new Map<string, { hit: Hit; score: number }>();
  for (const list of lists) {
    const seen = new Set<string>();
    for (const [rank, hit] of list.entries()) {
      const url = isIndexedFile(hit) ? hit.url : shownUrl(hit.url);
      if (!url) continue;
      const key = resultKey({ ...hit, url }, kind);
      if (seen.has(key)) continue;
      seen.add(key);
      const score = 1 / (RANK_CONSTANT + rank + 1);
      const known = found.get(key);
      if (known) found.set(key, { hit: merged(known.hit, hit), score: known.score + score });
      else found.set(key, { hit: { ...hit, url }, score });
    }
  }
  const all = [...found.values()];
  if (lists.length > 1) all.sort((a, b) => b.score - a.score);
  return all.map(({ hit }) => hit);
}
