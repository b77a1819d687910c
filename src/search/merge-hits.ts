/** Merges lists of hits into one list in which each page occurs once, best first. */
import { isSessionParameter, isTrackingParameter } from '#net/tracking-parameters.ts';
import { cleanUrl } from '#reader/index.ts';
import type { Hit } from './hit.ts';
import type { SearchKind } from './query.ts';
import { fuseRanks } from './rank-fusion.ts';
import { canonicalPlace } from './same-page.ts';

/** Returns the URL as shown in results; `undefined` if it is invalid or cannot be read. */
export function displayUrl(url: string): string | undefined {
  try {
    return cleanUrl(url);
  } catch {
    return undefined;
  }
}

/** Whether a hit is a file in the local index. Such a file is never read again, and no provider may return one. */
export const isIndexedFile = ({ url, passages }: Hit): boolean => passages !== undefined && url.startsWith('file:///');

/** Returns a key that is equal for URLs of the same page. It is only compared, never fetched or shown. */
export function pageKey(text: string): string {
  const url = new URL(text);
  const parameters = [...url.searchParams]
    .filter(([name]) => !isTrackingParameter(name) && !isSessionParameter(name))
    .sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));
  const { host, path } = canonicalPlace(url);
  const route = url.hash.startsWith('#/') || url.hash.startsWith('#!') ? url.hash : '';
  return `${host}${path}?${new URLSearchParams(parameters)}${route}`;
}

/**
 * Returns a key that is equal for hits that are the same result: a page, or one image on a page. `hit.url` must be a
 * display URL.
 */
export const resultKey = ({ url, imageUrl }: Hit, kind: SearchKind): string =>
  kind === 'images' && imageUrl ? `${pageKey(url)} ${imageUrl}` : pageKey(url);

/** Fills in the fields that the first hit lacks from the second hit. */
const combine = (first: Hit, second: Hit): Hit => ({
  ...second,
  ...first,
  title: first.title || second.title,
  description: first.description || second.description,
});

/** Merges the hits of all lists by rank fusion. */
export function mergeHits(lists: readonly (readonly Hit[])[], kind: SearchKind): Hit[] {
  const found = new Map<string, Hit>();
  const keyed = lists.map((list) => {
    const seen = new Set<string>();
    return list.map((hit) => {
      const url = isIndexedFile(hit) ? hit.url : displayUrl(hit.url);
      if (!url) return undefined;
      const shown = { ...hit, url };
      const key = resultKey(shown, kind);
      // Only the first hit of a page in each list is used.
      if (seen.has(key)) return key;
      seen.add(key);
      const known = found.get(key);
      found.set(key, known ? combine(known, hit) : shown);
      return key;
    });
  });
  const ranked = fuseRanks(
    keyed.map((items) => ({ items })),
    (key) => key,
  );
  return ranked.map(({ key }) => found.get(key)!);
}
