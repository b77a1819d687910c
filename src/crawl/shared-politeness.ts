/**
 * Host limits that several servers share through a database, so that all servers together contact a host no more often
 * than a single server would. Times come from the database clock.
 */
import { randomUUID } from 'node:crypto';
import { type Kysely, sql } from 'kysely';
import type { Log } from '#telemetry/log.ts';

export interface SharedPoliteness {
  /**
   * Acquires a slot. Returns `undefined` if successful, otherwise the number of milliseconds to wait before the next
   * attempt.
   */
  acquire(host: string, maxAtOnce: number): Promise<number | undefined>;
  /** Releases a slot. No server contacts the host during the pause. Returns immediately and never fails. */
  release(host: string, pauseMs: number): void;
  /** Starts a pause of the host for all servers, without a slot. Returns immediately and never fails. */
  pause(host: string, pauseMs: number): void;
  /** Waits for pending writes. */
  close(): Promise<void>;
}

export interface PolitenessTables {
  /** `holders` is a JSON object from slot id to the end of its lease. Times are in ms since 1970. */
  crawl_hosts: { host: string; next_at: number; holders: string };
}

/**
 * Lease duration of a slot, in milliseconds. If the process dies, the slot becomes free after this time. A running
 * process renews the lease after a third of this time.
 */
const SLOT_LEASE_MS = 20_000;
/** Longer than any pause. A time further in the future was written before the clock was set back, and is ignored. */
const MAX_PAUSE_MS = 3_600_000;
/** How soon to try again while all slots are in use, because their release is not announced. */
const POLL_MS = 250;
/** Rows of hosts that have been idle for this long are deleted. */
const FORGET_AFTER_MS = 3_600_000;

const NOW = sql<number>`floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint`;

/** Requires PostgreSQL. */
export function createSharedPoliteness(db: Kysely<PolitenessTables>, log: Pick<Log, 'warn'>): SharedPoliteness {
  const self = randomUUID();
  /** Ids of the slots that this process is using, by host. */
  const held = new Map<string, string[]>();
  /** Pending writes by host. They run one after another, so that a slot is released before it is acquired again. */
  const writing = new Map<string, Promise<void>>();
  let lastId = 0;

  function enqueueWrite(host: string, write: () => Promise<unknown>): void {
    const written = (writing.get(host) ?? Promise.resolve())
      .then(write)
      .then(
        () => {},
        // If a slot cannot be released, it becomes free when its lease expires.
        (error: unknown) =>
          log.warn({ err: error }, 'the slot of a host could not be released; it becomes free when its lease expires'),
      )
      .finally(() => {
        if (writing.get(host) === written) writing.delete(host);
      });
    writing.set(host, written);
  }

  const renewing = setInterval(() => {
    for (const host of held.keys()) enqueueWrite(host, () => renew(db, host, held.get(host) ?? []));
    db.deleteFrom('crawl_hosts')
      .where('next_at', '<', sql<number>`${NOW} - ${FORGET_AFTER_MS}`)
      .execute()
      .catch((error: unknown) => log.warn({ err: error }, 'idle hosts could not be deleted from the database'));
  }, SLOT_LEASE_MS / 3);
  renewing.unref();

  return {
    async acquire(host, maxAtOnce) {
      await writing.get(host);
      lastId += 1;
      const id = `${self}:${lastId}`;
      const waitMs = await acquireSlot(db, { host, id, maxAtOnce });
      if (waitMs !== undefined) return waitMs;
      held.set(host, [...(held.get(host) ?? []), id]);
      return undefined;
    },
    release(host, pauseMs) {
      const [id, ...others] = held.get(host) ?? [];
      if (others.length) held.set(host, others);
      else held.delete(host);
      if (id !== undefined) enqueueWrite(host, () => pauseHost(db, { host, pauseMs, id }));
    },
    pause: (host, pauseMs) => enqueueWrite(host, () => pauseHost(db, { host, pauseMs })),
    async close() {
      clearInterval(renewing);
      await Promise.all(writing.values());
    },
  };
}

interface SlotRequest {
  readonly host: string;
  readonly id: string;
  readonly maxAtOnce: number;
}

async function acquireSlot(
  db: Kysely<PolitenessTables>,
  { host, id, maxAtOnce }: SlotRequest,
): Promise<number | undefined> {
  return db.transaction().execute(async (transaction) => {
    // Locks the row: other requests for the host wait for the lock.
    const row = await transaction
      .insertInto('crawl_hosts')
      .values({ host, next_at: 0, holders: '{}' })
      .onConflict((conflict) => conflict.column('host').doUpdateSet((eb) => ({ host: eb.ref('excluded.host') })))
      .returning(['next_at', 'holders', NOW.as('now')])
      .executeTakeFirstOrThrow();
    const waitMs = row.next_at - row.now;
    if (waitMs > 0 && waitMs <= MAX_PAUSE_MS) return waitMs;
    const holders = Object.entries(JSON.parse(row.holders) as Record<string, number>).filter(
      ([, until]) => until > row.now && until <= row.now + SLOT_LEASE_MS,
    );
    if (holders.length >= maxAtOnce) return POLL_MS;
    const withNew = Object.fromEntries([...holders, [id, row.now + SLOT_LEASE_MS]]);
    await transaction
      .updateTable('crawl_hosts')
      .set({ holders: JSON.stringify(withNew), next_at: row.now })
      .where('host', '=', host)
      .execute();
    return undefined;
  });
}

interface HostPause {
  readonly host: string;
  readonly pauseMs: number;
  /** The slot to release. */
  readonly id?: string;
}

async function pauseHost(db: Kysely<PolitenessTables>, { host, pauseMs, id = '' }: HostPause): Promise<void> {
  const nextAt = sql<number>`${NOW} + ${Math.ceil(pauseMs)}::bigint`;
  await db
    .insertInto('crawl_hosts')
    .values({ host, next_at: nextAt, holders: '{}' })
    .onConflict((conflict) =>
      conflict.column('host').doUpdateSet({
        next_at: sql`greatest(crawl_hosts.next_at, excluded.next_at)`,
        holders: sql`(crawl_hosts.holders::jsonb - ${id}::text)::text`,
      }),
    )
    .execute();
}

async function renew(db: Kysely<PolitenessTables>, host: string, ids: readonly string[]): Promise<void> {
  for (const id of ids) {
    await db
      .updateTable('crawl_hosts')
      .set({ holders: sql`(holders::jsonb || jsonb_build_object(${id}::text, ${NOW} + ${SLOT_LEASE_MS}))::text` })
      .where('host', '=', host)
      .execute();
  }
}
