/** The store of counters that the configuration asks for. */
import type { Log } from '#telemetry/log.ts';
import type { Counters } from './counters.ts';
import { createMemoryCounters } from './memory.ts';
import { openRedisCounters } from './redis.ts';
import { openSqlCounters } from './sql.ts';

export interface CountersPlace {
  readonly redisUrl?: string | undefined;
  readonly databaseUrl?: string | undefined;
  /** A SQLite file for several processes of one machine. */
  readonly file?: string | undefined;
}

/** The first place that is given; without any, counters of this process alone. */
export async function openCounters(
  { redisUrl, databaseUrl, file = '' }: CountersPlace,
  options: { readonly log?: Pick<Log, 'warn'> | undefined } = {},
): Promise<Counters> {
  if (redisUrl) return openRedisCounters(redisUrl, options);
  if (databaseUrl || file) return openSqlCounters({ url: databaseUrl, file }, options);
  return createMemoryCounters();
}
