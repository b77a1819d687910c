/**
 * Decides who can find a page in the index. Each page has an owner: `public` for pages at public URLs; `operator` for
 * pages added by `lectern index`; an account, for pages that only this account can find; and `all` for pages that are
 * shared only with `LECTERN_INDEX_SHARED=all`. The last group contains pages at capability URLs, and pages stored by
 * versions that did not record owners.
 */
import { isCapabilityUrl } from '#net/capability-url.ts';

/** Which pages read by other accounts an account can find: all, only those at public URLs, or none. */
export const INDEX_SHARED = ['all', 'public', 'none'] as const;
export type IndexShared = (typeof INDEX_SHARED)[number];

export const PUBLIC = 'public';
export const OPERATOR = 'operator';
export const ONLY_ALL = 'all';
const ACCOUNT = 'account:';

export interface ReadBy {
  /** The account that read the page; `undefined` for a caller without one. */
  readonly account: string | undefined;
  /** The requested URL and the URL after redirects. */
  readonly urls: readonly string[];
}

/**
 * Returns the owner of a page that was read. Returns `undefined` if the page must not be stored, because callers
 * without an account cannot be distinguished.
 */
export function ownerOf(shared: IndexShared, { account, urls }: ReadBy): string | undefined {
  const isSecret = urls.some(isCapabilityUrl);
  if (shared === 'all') return isSecret ? ONLY_ALL : PUBLIC;
  if (shared === 'public' && !isSecret) return PUBLIC;
  return account === undefined ? undefined : ACCOUNT + account;
}

/** Returns the owners whose pages an account can find. A caller without an account finds only shared pages. */
export function visibleOwners(shared: IndexShared, account: string | undefined): readonly string[] {
  const own = account === undefined ? [] : [ACCOUNT + account];
  if (shared === 'none') return [OPERATOR, ...own];
  return [PUBLIC, OPERATOR, ...(shared === 'all' ? [ONLY_ALL] : []), ...own];
}

/** A page replaces the page with the same key. Pages owned by an account are separate from those of other accounts. */
export const keyOf = (owner: string, url: string): string => (owner.startsWith(ACCOUNT) ? `${owner} ${url}` : url);
