/**
 * Turns at hosts that several servers take by one database, so that all of them together ask a host no more often than one
 * would. Times are those of the database.
 */
import { randomUUID } from 'node:crypto';
import { type Kysely, sql } from 'kysely';
import type { Log } from '#telemetry/log.ts';

export interface SharedPoliteness {
  /** Takes a turn: undefined when it is taken, else how long to wait before asking again, in ms. */
  take(host: string, atOnce: number): Promise<number | undefined>;
  /** Gives it back, with a pause for everybody. Does not wait and does not fail. */
  give(host: string, pauseMs: number): void;
  /** A pause for everybody, without a turn. Does not wait and does not fail. */
  rest(host: string, pauseMs: number): void;
  /** Waits for what was given back. */
  close(): Promise<void>;
}

export interface PolitenessTables {
  /** `holders` is a JSON object: by whom a turn is held, and until when. Times in ms since 1970. */
  crawl_hosts: { host: string; next_at: number; holders: string };
}

/** A turn whose process died is free again after so long, when its crawl goes on too; a living one renews it well before. */
const HELD_MS = 20_000;
/** Longer than any pause: what is further ahead was written when the clock was, which has been put back. */
const MOST_PAUSE_MS = 3_600_000;
/** When to ask again for a turn that somebody has: nobody knows when it is given back. */
const LOOK_MS = 250;
/** Hosts that nobody has asked for so long are forgotten. */
const KEPT_MS = 3_600_000;

const NOW = sql<number>`floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint`;

/** For PostgreSQL, whose room has the table. */
export function createSharedPoliteness(db: Kysely<PolitenessTables>, log: Pick<Log, 'warn'>): SharedPoliteness {
  const self = randomUUID();
  /** How many turns this process has at each host. */
  const held = new Map<string, string[]>();
  /** What is being written for a host: one after the other, so that what is given back can be taken again. */
  const writing = new Map<string, Promise<void>>();
  let made = 0;

  function after(host: string, work: () => Promise<unknown>): void {
    const written = (writing.get(host) ?? Promise.resolve())
      .then(work)
      .then(
        () => {},
        // What cannot be given back ends by itself.
        (error: unknown) => log.warn({ err: error }, 'a turn at a host could not be given back'),
      )
      .finally(() => {
        if (writing.get(host) === written) writing.delete(host);
      });
    writing.set(host, written);
  }

  const renewing = setInterval(() => {
    for (const host of held.keys()) after(host, () => renew(db, host, held.get(host) ?? []));
    db.deleteFrom('crawl_hosts')
      .where('next_at', '<', sql<number>`${NOW} - ${KEPT_MS}`)
      .execute()
      .catch((error: unknown) => log.warn({ err: error }, 'hosts could not be forgotten'));
  }, HELD_MS / 3);
  renewing.unref();

  return {
    async take(host, atOnce) {
      await writing.get(host);
      made += 1;
      const id = `${self}:${made}`;
      const waitMs = await takeTurn(db, { host, id, atOnce });
      if (waitMs !== undefined) return waitMs;
      const own = held.get(host) ?? [];
      held.set(host, [...own, id]);
      return undefined;
    },
    give(host, pauseMs) {
      const [id, ...others] = held.get(host) ?? [];
      if (others.length) held.set(host, others);
      else held.delete(host);
      if (id !== undefined) after(host, () => pause(db, { host, pauseMs, id }));
    },
    rest: (host, pauseMs) => after(host, () => pause(db, { host, pauseMs })),
    async close() {
      clearInterval(renewing);
      await Promise.all(writing.values());
    },
  };
}

interface Wanted {
  readonly host: string;
  readonly id: string;
  readonly atOnce: number;
}

async function takeTurn(db: Kysely<PolitenessTables>, { host, id, atOnce }: Wanted): Promise<number | undefined> {
  return db.transaction().execute(async (transaction) => {
    // Who asks for the same host meanwhile waits here.
    const row = await transaction
      .insertInto('crawl_hosts')
      .values({ host, next_at: 0, holders: '{}' })
      .onConflict((conflict) => conflict.column('host').doUpdateSet((eb) => ({ host: eb.ref('excluded.host') })))
      .returning(['next_at', 'holders', NOW.as('now')])
      .executeTakeFirstOrThrow();
    const waitMs = row.next_at - row.now;
    if (waitMs > 0 && waitMs <= MOST_PAUSE_MS) return waitMs;
    const holders = Object.entries(JSON.parse(row.holders) as Record<string, number>).filter(
      ([, until]) => until > row.now && until <= row.now + HELD_MS,
    );
    if (holders.length >= atOnce) return LOOK_MS;
    const now = Object.fromEntries([...holders, [id, row.now + HELD_MS]]);
    await transaction
      .updateTable('crawl_hosts')
      .set({ holders: JSON.stringify(now), next_at: row.now })
      .where('host', '=', host)
      .execute();
    return undefined;
  });
}

interface Pause {
  readonly host: string;
  readonly pauseMs: number;
  /** The turn that ends. */
  readonly id?: string;
}

async function pause(db: Kysely<PolitenessTables>, { host, pauseMs, id = '' }: Pause): Promise<void> {
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
      .set({ holders: sql`(holders::jsonb || jsonb_build_object(${id}::text, ${NOW} + ${HELD_MS}))::text` })
      .where('host', '=', host)
      .execute();
  }
}
