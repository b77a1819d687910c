/**
 * Temporarily refuses pages that abused the server: their reads were stopped. Callers without a key cannot read such a
 * page for a while (docs/reference/wire/reader.md, Abuse limits), so that an expensive page is not requested
 * repeatedly. Many sites may share a host, so the refusal widens step by step: the URL, its path with any query, the
 * folder, the host. A scope is refused as a whole once reads of several of its parts were stopped.
 */
import { createHash } from 'node:crypto';
import { problem } from '#errors.ts';
import { isUrl } from '#is-url.ts';

export interface AbuseRefusals {
  /** Throws SecurityCompromiseError while the URL is refused. Callers with a key are never refused. */
  check(url: string, keyed: boolean): void;
  /** Starts refusing a URL. `reason` is shown to callers: a clause such as `it …`, without a full stop. */
  add(url: string, reason: string): void;
}

export interface AbuseRefusalOptions {
  /** Duration of a refusal; 0 disables refusals. */
  readonly refusalMs: number;
  readonly clock?: () => number;
}

/** Number of distinct parts with stopped reads after which the whole scope is refused. */
const PARTS_TO_REFUSE = 5;
/** Deeper folders count as one, so that a few stopped reads suffice on any host. */
const MAX_DEPTH = 3;
const MAX_ENTRIES = 10_000;

interface Scope {
  /** Hashed, so that the table is not a list of visited hosts. */
  readonly key: string;
  /** The refused scope, as worded in the message. */
  readonly refused: string;
}

/** The scopes of a URL, from its host to the URL itself; empty for URLs without a host. */
function scopesOf(url: string): Scope[] {
  if (!isUrl(url)) return [];
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
    scope('path', pathname, 'This page cannot be read without a key, regardless of its query string,'),
    scope('url', pathname + search, 'This page cannot be read without a key'),
  ];
}

export function createAbuseRefusals({ refusalMs, clock = Date.now }: AbuseRefusalOptions): AbuseRefusals {
  const refused = new Map<string, { readonly until: number; readonly reason: string }>();
  /** For each scope: at most `PARTS_TO_REFUSE` parts with stopped reads, each with its expiry time. */
  const counted = new Map<string, Map<string, number>>();

  /** Adds a part to a scope; true once the scope has `PARTS_TO_REFUSE` of them. */
  function addPart(scope: Scope, part: Scope): boolean {
    const now = clock();
    const parts = counted.get(scope.key) ?? new Map<string, number>();
    for (const [key, until] of parts) if (until <= now) parts.delete(key);
    parts.set(part.key, now + refusalMs);
    put(counted, scope.key, parts);
    if (parts.size < PARTS_TO_REFUSE) return false;
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
        else if (addPart(scope, part)) {
          const summary = `several pages were stopped there, the last one because ${reason}`;
          put(refused, scope.key, { until, reason: summary });
        }
      }
    },
  };
}

/** Inserts an entry; evicts the oldest one if there are too many. */
function put<Value>(entries: Map<string, Value>, key: string, value: Value): void {
  entries.delete(key);
  entries.set(key, value);
  if (entries.size > MAX_ENTRIES) entries.delete(entries.keys().next().value!);
}
