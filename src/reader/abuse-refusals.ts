/**
 * Temporarily refuses pages that abused the server: their reads were stopped. Callers without a key cannot read such a
 * page for a while (docs/reference/wire/reader.md, Abuse limits), so that an expensive page is not requested
 * repeatedly. Many sites may share a host, so the refusal widens step by step: the URL, its path with any query, the
 * folder, the host. A scope is refused as a whole once reads of several of its parts were stopped.
 */
import { createHash } from 'node:crypto';
import { problem } from '#errors.ts';
import { isUrl } from '#is-url.ts';
import { withLocalCopy } from '#storage/shared/local-copy.ts';
import type { SharedStore } from '#storage/shared/values.ts';

export interface AbuseRefusals {
  /** Throws SecurityCompromiseError while the URL is refused. Callers with a key are never refused. */
  check(url: string, keyed: boolean): Promise<void>;
  /** Starts refusing a URL. `reason` is shown to callers: a clause such as `it …`, without a full stop. */
  add(url: string, reason: string): Promise<void>;
}

export interface AbuseRefusalOptions {
  /** Duration of a refusal; 0 disables refusals. */
  readonly refusalMs: number;
  /** Shared by all servers. */
  readonly store: SharedStore;
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

interface Refusal {
  /** In ms since 1970. */
  readonly until: number;
  readonly reason: string;
}

/** The parts of a scope with stopped reads, at most `PARTS_TO_REFUSE`, each with its expiry time. */
type Parts = Readonly<Record<string, number>>;

export function createAbuseRefusals({ refusalMs, store, clock = Date.now }: AbuseRefusalOptions): AbuseRefusals {
  const shared = withLocalCopy(store, { clock });
  const refused = shared.space({ name: 'refused', maxValues: MAX_ENTRIES });
  const counted = shared.space({ name: 'stopped', maxValues: MAX_ENTRIES });

  /** Adds a part to a scope; true once the scope has `PARTS_TO_REFUSE` of them. */
  const addPart = (scope: Scope, part: Scope): Promise<boolean> =>
    counted.update(scope.key, (value, nowMs) => {
      const known = value === undefined ? [] : Object.entries(JSON.parse(value) as Parts);
      const current = known.filter(([, until]) => until > nowMs);
      const parts: Parts = { ...Object.fromEntries(current), [part.key]: nowMs + refusalMs };
      // A scope that has been refused starts again.
      const isFull = Object.keys(parts).length >= PARTS_TO_REFUSE;
      return { value: JSON.stringify(isFull ? {} : parts), keepMs: refusalMs, result: isFull };
    });

  return {
    async check(url, keyed) {
      if (keyed || refusalMs <= 0) return;
      const scopes = scopesOf(url);
      const found = await refused.get(scopes.map(({ key }) => key));
      for (const [at, value] of found.entries()) {
        if (value === undefined) continue;
        const { until, reason } = JSON.parse(value) as Refusal;
        const leftMs = until - clock();
        if (leftMs <= 0) continue;
        throw problem('SecurityCompromiseError', {
          path: 'url',
          message: `${scopes[at]!.refused} until ${new Date(until).toISOString()}: ${reason}`,
          retryAfter: Math.ceil(leftMs / 1_000),
        });
      }
    },
    async add(url, reason) {
      if (refusalMs <= 0) return;
      const scopes = scopesOf(url);
      const refuse = (scope: Scope, why: string) =>
        refused.set(
          scope.key,
          JSON.stringify({ until: clock() + refusalMs, reason: why } satisfies Refusal),
          refusalMs,
        );
      for (const [at, scope] of scopes.entries()) {
        const part = scopes[at + 1];
        if (!part) await refuse(scope, reason);
        else if (await addPart(scope, part))
          await refuse(scope, `several pages were stopped there, the last one because ${reason}`);
      }
    },
  };
}
