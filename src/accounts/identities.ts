/** A cache of the identities of keys. Entries are stored under the hash of the key, never under the key itself. */
import { DatabaseUnavailableError } from '#storage/database/unavailable.ts';
import type { Identity } from './records.ts';

export interface IdentitiesOptions {
  /** Loads the identity of an unrevoked key from the database. */
  readonly find: (hash: string) => Promise<Identity | undefined>;
  /**
   * How long an entry is used without a database query, in milliseconds. A revocation by another process takes effect
   * after this time.
   */
  readonly freshMs: number;
  /** How long an entry is used while the database is unreachable, in milliseconds. */
  readonly graceMs: number;
  readonly maxCached: number;
  /** Wall clock in milliseconds, used for the expiry of keys. */
  readonly now: () => number;
  /** Monotonic clock in milliseconds, used for the age of entries. */
  readonly clock: () => number;
}

export interface Identities {
  of(hash: string): Promise<Identity | undefined>;
  /** Empties the cache, so that changes made by this process take effect immediately. */
  clear(): void;
}

interface Entry {
  readonly identity: Identity;
  readonly askedAt: number;
  /** Whether the last refresh found the database unreachable. */
  failing: boolean;
}

interface PendingQuery {
  readonly startedAt: number;
  readonly identity: Promise<Identity | undefined>;
}

export function createIdentities(options: IdentitiesOptions): Identities {
  const { find, freshMs, graceMs, maxCached, now, clock } = options;
  const cache = new Map<string, Entry>();
  const pending = new Map<string, PendingQuery>();
  let generation = 0;

  async function query(hash: string, startedAt: number): Promise<Identity | undefined> {
    const queried = generation;
    try {
      const identity = await find(hash);
      // An identity that was loaded before a change in this process must not be cached after the change.
      if (queried === generation) store(hash, identity, startedAt);
      return identity;
    } finally {
      if (pending.get(hash)?.startedAt === startedAt) pending.delete(hash);
    }
  }

  function store(hash: string, identity: Identity | undefined, askedAt: number): void {
    cache.delete(hash);
    if (!identity) return;
    cache.set(hash, { identity, askedAt, failing: false });
    if (cache.size > maxCached) cache.delete(cache.keys().next().value!);
  }

  /** Requests with the same key share one query for up to `freshMs`. */
  function queryShared(hash: string): Promise<Identity | undefined> {
    const startedAt = clock();
    const running = pending.get(hash);
    if (running && startedAt - running.startedAt < freshMs) return running.identity;
    const identity = query(hash, startedAt);
    pending.set(hash, { startedAt, identity });
    return identity;
  }

  const unexpired = (identity: Identity | undefined): Identity | undefined =>
    identity && (identity.key.expiresAt === null || identity.key.expiresAt > now()) ? identity : undefined;
  const inGrace = (entry: Entry | undefined): entry is Entry =>
    entry !== undefined && clock() - entry.askedAt < graceMs;

  return {
    async of(hash) {
      const entry = cache.get(hash);
      if (entry && clock() - entry.askedAt < freshMs) return unexpired(entry.identity);
      if (entry?.failing && inGrace(entry)) {
        // The database was unreachable a moment ago: return the cached entry and retry in the background.
        queryShared(hash).catch(() => {});
        return unexpired(entry.identity);
      }
      try {
        return unexpired(await queryShared(hash));
      } catch (error) {
        const last = cache.get(hash);
        if (!(error instanceof DatabaseUnavailableError && inGrace(last))) throw error;
        last.failing = true;
        return unexpired(last.identity);
      }
    },
    clear() {
      generation += 1;
      cache.clear();
      pending.clear();
    },
  };
}
