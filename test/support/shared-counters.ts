/** Counter stores that several processes share, for tests and benchmarks. */
import type { Counters, Take } from '#storage/counters/counters.ts';
import { openRedisCounters } from '#storage/counters/redis.ts';
import { openSqlCounters } from '#storage/counters/sql.ts';

export interface StoreLocation {
  readonly redis?: string | undefined;
  readonly postgres?: string | undefined;
  readonly file: string;
}

/** A burst of `count` simultaneous takes. `nowMs` overrides the store's own clock. */
export interface Burst {
  readonly nowMs?: number | undefined;
  readonly take: Take;
  readonly count: number;
}

export function openSharedCounters(
  { redis, postgres, file }: StoreLocation,
  options: { clock?: (() => number) | undefined },
): Promise<Counters> {
  return redis ? openRedisCounters(redis, options) : openSqlCounters({ url: postgres, file }, options);
}

/** Returns how many of `count` simultaneous takes succeed. */
export async function countSuccesses(counters: Counters, { take, count }: Burst): Promise<number> {
  const taken = await Promise.all(Array.from({ length: count }, () => counters.take(take)));
  return taken.filter(({ ok }) => ok).length;
}
