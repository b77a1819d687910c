/** Opens the stores of shared state that are configured. */
import type { Log } from '#telemetry/log.ts';
import { boundedStore } from './bounded.ts';
import { createMemoryValues } from './memory.ts';
import { openRedisValues } from './redis.ts';
import { openSqlValues, SHARED_TABLES } from './sql.ts';
import type { SharedStore } from './values.ts';

export interface SharedState {
  /** Survives restarts: PostgreSQL, or else Redis, or else a SQLite file in the data folder. */
  readonly durable: SharedStore;
  /** For state that may be lost: Redis, or else PostgreSQL, or else the memory of this server. */
  readonly brief: SharedStore;
  /** Whether other servers share this state. */
  readonly isShared: boolean;
  readonly healthy: boolean;
  close(): Promise<void>;
}

export interface SharedStateOptions {
  readonly dataDir: string;
  readonly databaseUrl?: string | undefined;
  readonly redisUrl?: string | undefined;
  readonly log?: Pick<Log, 'warn' | 'info'> | undefined;
}

export async function openSharedState({
  dataDir,
  databaseUrl,
  redisUrl,
  log,
}: SharedStateOptions): Promise<SharedState> {
  const redis = redisUrl ? boundedStore(await openRedisValues(redisUrl, { log }), { log }) : undefined;
  try {
    const place = { url: databaseUrl, file: SHARED_TABLES.fileIn(dataDir) };
    const sql = databaseUrl || !redis ? boundedStore(await openSqlValues(place, { log }), { log }) : undefined;
    const stores = [redis, sql].filter((store) => store !== undefined);
    return {
      durable: (sql ?? redis)!,
      brief: redis ?? (databaseUrl ? sql! : createMemoryValues()),
      isShared: databaseUrl !== undefined || redis !== undefined,
      get healthy() {
        return stores.every(({ healthy }) => healthy);
      },
      async close() {
        await Promise.all(stores.map((store) => store.close()));
      },
    };
  } catch (error) {
    await redis?.close();
    throw error;
  }
}
