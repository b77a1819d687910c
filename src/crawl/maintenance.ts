/** Maintenance of crawls: charges for reads, expires crawls and deletes their results. */
import { setTimeout as sleep } from 'node:timers/promises';
import { type Maintenance, type MaintenanceOptions, startMaintenance } from '#storage/jobs/maintenance.ts';
import type { Billing } from './billing.ts';
import { type CrawlDb, JOBS, removeSomeExpired } from './store.ts';

export interface CrawlMaintenanceOptions extends Pick<MaintenanceOptions, 'busy' | 'restMs' | 'log'> {
  readonly store: CrawlDb;
  readonly billing: Billing;
  readonly now: () => number;
  /** How long the row of a crawl is retained after its submission. */
  readonly rememberMs: number;
}

const CHARGED_AT_ONCE = 200;

export function startCrawlMaintenance(options: CrawlMaintenanceOptions): Maintenance {
  const { store, billing, now, rememberMs } = options;

  async function chargeAll(): Promise<void> {
    for (;;) {
      const rows = await store.db.selectFrom('crawl_charges').selectAll().limit(CHARGED_AT_ONCE).execute();
      if (!rows.length) return;
      await billing.charge(
        rows.map(({ id, account_id, owner, model, tokens, at, ms, reserve }) => ({
          ...{ id, owner, account: account_id, model, tokens, at, ms, status: 200 },
          reservation: reserve === null ? undefined : JSON.parse(reserve),
        })),
      );
      const ids = rows.map(({ id }) => id);
      await store.db.deleteFrom('crawl_charges').where('id', 'in', ids).execute();
    }
  }

  async function removeExpired(signal: AbortSignal): Promise<void> {
    while (!signal.aborted && (await removeSomeExpired(store))) await sleep(1);
  }

  const chores = startMaintenance({
    ...options,
    plural: JOBS.plural,
    tasks: [chargeAll, () => JOBS.expire(store, now()), removeExpired, () => JOBS.forget(store, now() - rememberMs)],
  });
  return {
    wake: chores.wake,
    async close() {
      await chores.close();
      await chargeAll().catch(() => {});
    },
  };
}
