/**
 * Pages that were stopped as abuse: callers without a key cannot read them for a while (contract, section 15), so that a
 * page which costs a browser much is not asked for again and again by anybody. A host may be shared by many, so the
 * refusal grows step by step: the URL, its path with any query, the folder, the host. Each is refused as a whole once
 * several distinct parts of it had pages that were stopped.
 */
import { createHash } from 'node:crypto';
import { problem } from '#errors.ts';

export interface Abuse {
  /** SecurityCompromiseError while a URL is refused; never for callers with a key. */
  check(url: string, keyed: boolean): void;
  /** Refuses a URL from now on. `reason` is shown to callers: what the page did, as `it …` without a full stop. */
  add(url: string, reason: string): void;
}

export interface AbuseOptions {
  /** How long a page is refused; 0 refuses none. */
  readonly refusalMs: number;
  readonly clock?: () => number;
}

/** Distinct parts with stopped pages after which the whole is refused. */
const SEVERAL = 5;
/** Folders are told apart down to this depth, so that few stopped pages are enough for any host. */
const MAX_DEPTH = 3;
const MAX_ENTRIES = 10_000;

interface Scope {
  /** A hash: the table is no list of hosts. */
  readonly key: string;
  /** What is refused, as a message words it. */
  readonly refused: string;
}

/** What a URL belongs to, from its host to the URL itself; empty for what has no host. */
function scopesOf(url: string): Scope[] {
  if (!URL.canParse(url)) return [];
  const { hostname, pathname, search } = new URL(url);
  if (!hostname) return [];
  const scope = (kind: string, place: string, refused: string): Scope => ({
    key: createHash('sha256')
      .update(JSON.stringify([hostname, kind, place]))
      .digest('base64'),
    refused,
  });
  const folders = [...pathname.matchAll(/\//g)]
    .slice(1, 1 + MAX_DEPTH)
    .map(({ index }) => pathname.slice(0, index + 1))
    .map((folder) => scope('folder', folder, `Pages below ${folder} on this host cannot be read without a key`));
  return [
    scope('host', '', 'This host cannot be read without a key'),
    ...folders,
    scope('path', pathname, 'This page cannot be read without a key, whatever its query,'),
    scope('url', pathname + search, 'This page cannot be read without a key'),
  ];
}

export function createAbuse({ refusalMs, clock = Date.now }: AbuseOptions): Abuse {
  const refused = new Map<string, { readonly until: number; readonly reason: string }>();
  /** Of a scope the parts with stopped pages, each with the end of its time; never more than `SEVERAL` parts. */
  const counted = new Map<string, Map<string, number>>();

  /** Whether several parts of a scope have stopped pages, this one among them. */
  function hasSeveral(scope: Scope, part: Scope): boolean {
    const now = clock();
    const parts = counted.get(scope.key) ?? new Map<string, number>();
    for (const [key, until] of parts) if (until <= now) parts.delete(key);
    parts.set(part.key, now + refusalMs);
    put(counted, scope.key, parts);
    if (parts.size < SEVERAL) return false;
    counted.delete(scope.key);
    return true;
  }

  return {
    check(url, keyed) {
      if (keyed || refused.size === 0) return;
      for (const scope of scopesOf(url)) {
        const entry = refused.get(scope.key);
        if (!entry) continue;
        const leftMs = entry.until - clock();
        if (leftMs <= 0) {
          refused.delete(scope.key);
          continue;
        }
        throw problem('SecurityCompromiseError', {
          path: 'url',
          message: `${scope.refused} until ${new Date(entry.until).toISOString()}: ${entry.reason}`,
          retryAfter: Math.ceil(leftMs / 1_000),
        });
      }
    },
    add(url, reason) {
      if (refusalMs <= 0) return;
      const scopes = scopesOf(url);
      const until = clock() + refusalMs;
      for (const [at, scope] of scopes.entries()) {
        const part = scopes[at + 1];
        if (!part) put(refused, scope.key, { until, reason });
        else if (hasSeveral(scope, part)) {
          const told = `several pages were stopped there, the last one because ${reason}`;
          put(refused, scope.key, { until, reason: told });
        }
      }
    },
  };
}

/** The oldest entry goes when there are too many. */
function put<Value>(entries: Map<string, Value>, key: string, value: Value): void {
  entries.delete(key);
  entries.set(key, value);
  if (entries.size > MAX_ENTRIES) entries.delete(entries.keys().next().value!);
}
