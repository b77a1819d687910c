/** What is done beside the reading: reads are charged, crawls expire, what is not needed is removed. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Log } from '#telemetry/log.ts';
import type { Purse, Reserve } from './purse.ts';
import { type CrawlDb, expireJobs, forgetJobs, sweep } from './store.ts';

export interface ChoresOptions {
  readonly store: CrawlDb;
  readonly purse: Purse;
  /** What was set aside for reads that are to be charged, by the id of the charge. */
  readonly reserves: Map<string, Reserve>;
  readonly now: () => number;
  /** How long crawls are remembered after they were made. */
  readonly rememberMs: number;
  readonly log: Pick<Log, 'warn'>;
}

const LOOK_MS = 1_000;
const CHARGED_AT_ONCE = 200;

export function startChores({ store, purse, reserves, now, rememberMs, log }: ChoresOptions): {
  close(): Promise<void>;
} {
  const closing = new AbortController();
  const { signal } = closing;

  async function chargeAll(): Promise<void> {
    for (;;) {
      const rows = await store.db.selectFrom('crawl_charges').selectAll().limit(CHARGED_AT_ONCE).execute();
      if (!rows.length) return;
      await purse.charge(
        rows.map(({ id, account_id, owner, model, tokens, at, ms }) => ({
          ...{ id, owner, account: account_id, model, tokens, at, ms, status: 200 },
          reserve: reserves.get(id),
        })),
      );
      const ids = rows.map(({ id }) => id);
      await store.db.deleteFrom('crawl_charges').where('id', 'in', ids).execute();
      for (const id of ids) reserves.delete(id);
    }
  }

  async function clean(): Promise<void> {
    while (!signal.aborted && (await sweep(store))) await sleep(1);
  }

  const chores = [chargeAll, () => expireJobs(store, now()), clean, () => forgetJobs(store, now() - rememberMs)];

  async function doAll(): Promise<void> {
    // One that fails does not keep the others from being done.
    for (const chore of chores) {
      await chore().catch((error: unknown) => log.warn({ err: error }, 'crawls cannot be tidied up for the moment'));
    }
  }

  async function loop(): Promise<void> {
    while (!signal.aborted) {
      await doAll();
      await sleep(LOOK_MS, undefined, { signal }).catch(() => {});
    }
    await chargeAll().catch(() => {});
  }
  const looping = loop();

  return {
    async close() {
      closing.abort();
      await looping;
    },
  };
}
