/** The store of counters that the configuration asks for. */
import type { Log } from '#telemetry/log.ts';
import type { Counters } from './counters.ts';
import { createMemoryCounters } from './memory.ts';
import { openRedisCounters } from './redis.ts';
import { openSqlCounters } from './sql.ts';

export const COUNTER_STORES = ['memory', 'database', 'redis'] as const;
export type CounterStore = (typeof COUNTER_STORES)[number];

export interface CountersPlace {
  /** Redis where there is an address, else a database that is shared, else memory, when it is not said. */
  readonly store?: CounterStore | undefined;
  readonly redisUrl?: string | undefined;
  readonly databaseUrl?: string | undefined;
  /** A SQLite file for several processes of one machine. */
  readonly file: string;
}

/** Throws for Redis without an address. */
export async function openCounters(
  { redisUrl, databaseUrl, file, ...place }: CountersPlace,
  options: { readonly log?: Pick<Log, 'warn'> | undefined } = {},
): Promise<Counters> {
  const store = place.store ?? (redisUrl ? 'redis' : databaseUrl ? 'database' : 'memory');
  switch (store) {
    case 'memory':
      return createMemoryCounters();
    case 'database':
      return openSqlCounters({ url: databaseUrl, file }, options);
    case 'redis':
      if (!redisUrl) throw new Error('limits in Redis need its address: redisUrl');
      return openRedisCounters(redisUrl, options);
  }
}
