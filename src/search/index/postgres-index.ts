import type { Log } from '#telemetry/log.ts';
import type { IndexStore } from './index-store.ts';
export async function openPostgresIndex(_url: string, _log?: Pick<Log, 'warn'>): Promise<IndexStore> {
  throw new Error('not yet');
}
