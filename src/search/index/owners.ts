/**
 * Who finds a page in the index. Each page has an owner: `public` for pages at URLs that anybody may know, `operator` for
 * what `lectern index` put in, an account for what only that account finds, and `all` for pages that are shared under
 * `LECTERN_INDEX_SHARED=all` alone: those at capability URLs, and those of versions that noted no owner.
 */
import { isCapabilityUrl } from '#net/capability-url.ts';

/** What accounts find of each other's reads: everything, only pages at URLs that are no secrets, nothing. */
export const INDEX_SHARED = ['all', 'public', 'none'] as const;
export type IndexShared = (typeof INDEX_SHARED)[number];

export const PUBLIC = 'public';
export const OPERATOR = 'operator';
export const ONLY_ALL = 'all';
const ACCOUNT = 'account:';

export interface ReadBy {
  /** The account that read the page; undefined for callers who have none. */
  readonly account: string | undefined;
  /** The URLs that the page was read by: the one asked for, the one after redirects. */
  readonly urls: readonly string[];
}

/** The owner of a page that was read; undefined for one that must not be kept, since nobody could be told apart. */
export function ownerOf(shared: IndexShared, { account, urls }: ReadBy): string | undefined {
  const isSecret = urls.some(isCapabilityUrl);
  if (shared === 'all') return isSecret ? ONLY_ALL : PUBLIC;
  if (shared === 'public' && !isSecret) return PUBLIC;
  return account === undefined ? undefined : ACCOUNT + account;
}

/** The owners whose pages an account finds; a caller without an account finds what is shared. */
export function ownersFor(shared: IndexShared, account: string | undefined): readonly string[] {
  const own = account === undefined ? [] : [ACCOUNT + account];
  if (shared === 'none') return [OPERATOR, ...own];
  return [PUBLIC, OPERATOR, ...(shared === 'all' ? [ONLY_ALL] : []), ...own];
}

/** What a page replaces: the one with the same key. Pages of an account stand apart from those of all others. */
export const keyOf = (owner: string, url: string): string => (owner.startsWith(ACCOUNT) ? `${owner} ${url}` : url);
