/**
 * The values of `type`: kinds of results, and groups of public sources. A group is searched as kind `web`, in the
 * sources of that group only.
 */
import type { SearchKind } from './query.ts';

export const SOURCE_GROUPS = [
  'encyclopedia',
  'papers',
  'questions',
  'discussions',
  'code',
  'packages',
  'models',
  'books',
] as const;
export type SourceGroup = (typeof SOURCE_GROUPS)[number];

export const SEARCH_TYPES = ['web', 'images', 'news', ...SOURCE_GROUPS, 'scholar'] as const;
export type SearchType = (typeof SEARCH_TYPES)[number];

const KINDS: readonly SearchKind[] = ['web', 'images', 'news'];

/** Returns the kind of results that a type has, and the group of sources that it selects, if any. */
export function resolveType(type: SearchType): { kind: SearchKind; group?: SourceGroup } {
  const kind = KINDS.find((known) => known === type);
  if (kind) return { kind };
  return { kind: 'web', group: type === 'scholar' ? 'papers' : (type as SourceGroup) };
}
