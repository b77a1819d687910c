/** Charges, holds on balances, and usage sums. Old details are deleted every hour. */
import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { type ChargeQueueOptions, openChargeQueue } from './charge-queue.ts';
import { createHolds } from './holds.ts';
import type { Usage } from './records.ts';
import { storableCharge, toInteger } from './storable-charge.ts';
import { deleteEndedHolds, deleteOldDetails, sumUsage } from './usage-store.ts';

export interface UsageOptions extends ChargeQueueOptions {
  /**
   * Retention period for the details of individual requests, in days. The daily sums are never deleted. Default: 90.
   */
  readonly keepDays?: number | undefined;
  readonly now?: () => number;
}

/** The first run is soon after startup, because some servers restart every day. */
const FIRST_PRUNE_MS = 60_000;
const PRUNE_MS = 3_600_000;
const DAY_MS = 86_400_000;

export async function openUsage({ keepDays = 90, now = Date.now, ...options }: UsageOptions): Promise<Usage> {
  const { store } = options;
  const queue = await openChargeQueue(options);
  const hold = createHolds(store, now);
  let closed = false;

  async function prune(): Promise<void> {
    await deleteEndedHolds(store, now());
    while (!closed && (await deleteOldDetails(store, now() - keepDays * DAY_MS))) await yieldToEventLoop();
  }

  function pruneAfter(ms: number): NodeJS.Timeout {
    return setTimeout(async () => {
      // If a run fails, the next run does its work.
      await prune().catch(() => {});
      if (!closed) pruning = pruneAfter(PRUNE_MS);
    }, ms).unref();
  }
  let pruning = pruneAfter(FIRST_PRUNE_MS);

  return {
    hold: (accountId, { wanted, least }) => hold({ accountId, wanted: toInteger(wanted), least: toInteger(least) }),
    journal: (charge, written) => queue.journal(charge, written),
    charge: (charge) => queue.add(storableCharge(charge)),
    flush: queue.flush,
    sums: (query) => sumUsage(store, query),
    prune,
    async close() {
      if (closed) return;
      closed = true;
      clearTimeout(pruning);
      await queue.close();
    },
  };
}
