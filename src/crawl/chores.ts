/** What is done beside the reading: reads are charged, crawls expire, what is not needed is removed. */
import { setTimeout as sleep } from 'node:timers/promises';
import { type Chores, type ChoresOptions, startChores } from '#storage/jobs/maintenance.ts';
import type { Billing } from './billing.ts';
import { type CrawlDb, JOBS, sweep } from './store.ts';

export interface CrawlChoresOptions extends Pick<ChoresOptions, 'busy' | 'restMs' | 'log'> {
  readonly store: CrawlDb;
  readonly purse: Billing;
  readonly now: () => number;
  /** How long crawls are remembered after they were made. */
  readonly rememberMs: number;
}

const CHARGED_AT_ONCE = 200;

export function startCrawlChores(options: CrawlChoresOptions): Chores {
  const { store, purse, now, rememberMs } = options;

  async function chargeAll(): Promise<void> {
    for (;;) {
      const rows = await store.db.selectFrom('crawl_charges').selectAll().limit(CHARGED_AT_ONCE).execute();
      if (!rows.length) return;
      await purse.charge(
        rows.map(({ id, account_id, owner, model, tokens, at, ms, reserve }) => ({
          ...{ id, owner, account: account_id, model, tokens, at, ms, status: 200 },
          reserve: reserve === null ? undefined : JSON.parse(reserve),
        })),
      );
      const ids = rows.map(({ id }) => id);
      await store.db.deleteFrom('crawl_charges').where('id', 'in', ids).execute();
    }
  }

  async function clean(signal: AbortSignal): Promise<void> {
    while (!signal.aborted && (await sweep(store))) await sleep(1);
  }

  const chores = startChores({
    ...options,
    plural: JOBS.plural,
    chores: [chargeAll, () => JOBS.expire(store, now()), clean, () => JOBS.forget(store, now() - rememberMs)],
  });
  return {
    wake: chores.wake,
    async close() {
      await chores.close();
      await chargeAll().catch(() => {});
    },
  };
}
