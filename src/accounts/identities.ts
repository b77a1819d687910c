/**
 * Who keys belong to, asked of the database at most once a second a key. What is known is kept by the key's hash, never
 * by its text.
 */
import { DatabaseUnavailableError } from '#storage/database/unavailable.ts';
import type { Identity } from './records.ts';

export interface IdentitiesOptions {
  /** The identity of a key that is not revoked. */
  readonly find: (hash: string) => Promise<Identity | undefined>;
  /** How long an answer is trusted: so late can a revocation made elsewhere be noticed. */
  readonly freshMs: number;
  /** How long an answer goes on being trusted while the database is away. */
  readonly graceMs: number;
  readonly maxKnown: number;
  /** Wall time, for the expiry of keys. */
  readonly now: () => number;
  /** Milliseconds that nobody sets back, for the age of answers. */
  readonly clock: () => number;
}

export interface Identities {
  of(hash: string): Promise<Identity | undefined>;
  /** Makes that changes of this process are seen at once. */
  forget(): void;
}

interface Known {
  readonly identity: Identity;
  readonly askedAt: number;
  /** The database was away when it was asked again. */
  failing: boolean;
}

interface Flight {
  readonly startedAt: number;
  readonly identity: Promise<Identity | undefined>;
}

export function createIdentities(options: IdentitiesOptions): Identities {
  const { find, freshMs, graceMs, maxKnown, now, clock } = options;
  const known = new Map<string, Known>();
  const flights = new Map<string, Flight>();
  let generation = 0;

  async function ask(hash: string, startedAt: number): Promise<Identity | undefined> {
    const asked = generation;
    try {
      const identity = await find(hash);
      // What was read before a change of ours may not be kept after it.
      if (asked === generation) keep(hash, identity, startedAt);
      return identity;
    } finally {
      if (flights.get(hash)?.startedAt === startedAt) flights.delete(hash);
    }
  }

  function keep(hash: string, identity: Identity | undefined, askedAt: number): void {
    known.delete(hash);
    if (!identity) return;
    known.set(hash, { identity, askedAt, failing: false });
    if (known.size > maxKnown) known.delete(known.keys().next().value!);
  }

  /** One question answers all who come while it is new. */
  function join(hash: string): Promise<Identity | undefined> {
    const startedAt = clock();
    const flight = flights.get(hash);
    if (flight && startedAt - flight.startedAt < freshMs) return flight.identity;
    const identity = ask(hash, startedAt);
    flights.set(hash, { startedAt, identity });
    return identity;
  }

  const unexpired = (identity: Identity | undefined): Identity | undefined =>
    identity && (identity.key.expiresAt === null || identity.key.expiresAt > now()) ? identity : undefined;
  const inGrace = (entry: Known | undefined): entry is Known =>
    entry !== undefined && clock() - entry.askedAt < graceMs;

  return {
    async of(hash) {
      const entry = known.get(hash);
      if (entry && clock() - entry.askedAt < freshMs) return unexpired(entry.identity);
      if (entry?.failing && inGrace(entry)) {
        // Nobody waits for a database that was away just now.
        join(hash).catch(() => {});
        return unexpired(entry.identity);
      }
      try {
        return unexpired(await join(hash));
      } catch (error) {
        const last = known.get(hash);
        if (!(error instanceof DatabaseUnavailableError && inGrace(last))) throw error;
        last.failing = true;
        return unexpired(last.identity);
      }
    },
    forget() {
      generation += 1;
      known.clear();
      flights.clear();
    },
  };
}
