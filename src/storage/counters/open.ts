/** Opens the configured counter store. */
import type { Log } from '#telemetry/log.ts';
import type { Counters } from './counters.ts';
import { createMemoryCounters } from './memory.ts';
import { openRedisCounters } from './redis.ts';
import { openSqlCounters } from './sql.ts';

export const COUNTER_STORES = ['memory', 'database', 'redis'] as const;
export type CounterStore = (typeof COUNTER_STORES)[number];

export interface CountersOptions {
  /** Default: Redis if `redisUrl` is set, or else the database if `databaseUrl` is set, or else memory. */
  readonly store?: CounterStore | undefined;
  readonly redisUrl?: string | undefined;
  readonly databaseUrl?: string | undefined;
  /** SQLite file, shared by the processes on one machine. Used by the `database` store without `databaseUrl`. */
  readonly file: string;
}

/** Throws if the store is `redis` without `redisUrl`. */
export async function openCounters(
  { redisUrl, databaseUrl, file, ...place }: CountersOptions,
  options: { readonly log?: Pick<Log, 'warn'> | undefined } = {},
): Promise<Counters> {
  const store = place.store ?? (redisUrl ? 'redis' : databaseUrl ? 'database' : 'memory');
  switch (store) {
    case 'memory':
      return createMemoryCounters();
    case 'database':
      return openSqlCounters({ url: databaseUrl, file }, options);
    case 'redis':
      if (!redisUrl) throw new Error('limits in Redis need the URL of the server: set redisUrl');
      return openRedisCounters(redisUrl, options);
  }
}
