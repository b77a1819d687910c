/**
 * Leases on names, as rows with an expiry: one server at a time holds a name. A server that was killed loses its leases
 * after `LEASE_MS`. Advisory locks of PostgreSQL would end at once, but a pooler such as PgBouncer does not keep them.
 */
import { randomUUID } from 'node:crypto';
import { type Kysely, sql } from 'kysely';
import { NOW_MS, type SharedCacheTables } from './tables.ts';

const LEASE_MS = 10_000;
/** Leases of killed servers on names that nobody asked for again are removed after this time. */
const FORGET_MS = 60_000;

export interface Leases {
  /** Whether this server now holds the name. */
  take(name: string): Promise<boolean>;
  /** `none`: the holder gave the name back. `expired`: the holder was killed, or cannot reach the database. */
  stateOf(name: string): Promise<'held' | 'expired' | 'none'>;
  give(name: string): Promise<void>;
  removeForgotten(): Promise<void>;
  close(): void;
}

export function createLeases(db: Kysely<SharedCacheTables>): Leases {
  const owner = randomUUID();
  const held = new Set<string>();

  const renew = async () => {
    if (held.size === 0) return;
    await db
      .updateTable('cache_leases')
      .set({ ends_at: sql`${NOW_MS} + ${LEASE_MS}` })
      .where('owner', '=', owner)
      .execute();
  };
  // A lease that could not be renewed ends, and another server does the work too.
  const timer = setInterval(() => void renew().catch(() => {}), LEASE_MS / 4);
  timer.unref();

  return {
    async take(name) {
      const ends_at = sql<number>`${NOW_MS} + ${LEASE_MS}`;
      const taken = await db
        .insertInto('cache_leases')
        .values({ name, owner, ends_at })
        .onConflict((conflict) =>
          conflict.column('name').doUpdateSet({ owner, ends_at }).where('cache_leases.ends_at', '<=', NOW_MS),
        )
        .returning('name')
        .executeTakeFirst();
      if (taken) held.add(name);
      return taken !== undefined;
    },
    async stateOf(name) {
      const row = await db
        .selectFrom('cache_leases')
        .select(sql<boolean>`ends_at > ${NOW_MS}`.as('held'))
        .where('name', '=', name)
        .executeTakeFirst();
      return row === undefined ? 'none' : row.held ? 'held' : 'expired';
    },
    async give(name) {
      held.delete(name);
      await db.deleteFrom('cache_leases').where('name', '=', name).where('owner', '=', owner).execute();
    },
    async removeForgotten() {
      await db.deleteFrom('cache_leases').where('ends_at', '<', sql<number>`${NOW_MS} - ${FORGET_MS}`).execute();
    },
    close: () => clearInterval(timer),
  };
}
