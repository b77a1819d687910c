/** What requests cost: charges, holds on balances, and sums. Each charge counts once, however often it is written. */
import { setImmediate as turn } from 'node:timers/promises';
import { type ChargeQueueOptions, openChargeQueue } from './charge-queue.ts';
import { createHolds } from './holds.ts';
import type { Charge, Usage } from './records.ts';
import { deleteEndedHolds, deleteOldDetails, sumUsage } from './usage-store.ts';

export interface UsageOptions extends ChargeQueueOptions {
  /** How long single requests are kept; the sums by day stay. */
  readonly keepDays?: number | undefined;
  readonly now?: () => number;
}

/** The first time soon: a server may be started anew each day. */
const FIRST_PRUNE_MS = 60_000;
const PRUNE_MS = 3_600_000;
const DAY_MS = 86_400_000;
const MAX_NAME = 200;
/** The end of time, ECMA-262 section 21.4.1.1. */
const LATEST_MS = 8.64e15;

export async function openUsage({ keepDays = 90, now = Date.now, ...options }: UsageOptions): Promise<Usage> {
  const { store } = options;
  const queue = await openChargeQueue(options);
  const hold = createHolds(store, now);
  let closed = false;

  async function prune(): Promise<void> {
    await deleteEndedHolds(store, now());
    while (!closed && (await deleteOldDetails(store, now() - keepDays * DAY_MS))) await turn();
  }

  function pruneAfter(ms: number): NodeJS.Timeout {
    return setTimeout(async () => {
      // What is not pruned now is pruned an hour later.
      await prune().catch(() => {});
      if (!closed) pruning = pruneAfter(PRUNE_MS);
    }, ms).unref();
  }
  let pruning = pruneAfter(FIRST_PRUNE_MS);

  return {
    hold: (accountId, { wanted, least }) => hold({ accountId, wanted: whole(wanted), least: whole(least) }),
    charge: (charge) => queue.add(cleaned(charge)),
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

const whole = (value: number, most = Number.MAX_SAFE_INTEGER) => Math.min(most, Math.max(0, Math.ceil(value) || 0));

/** No database may ever refuse a charge, or all behind it would wait for good. */
function cleaned(charge: Charge): Charge {
  return {
    ...charge,
    face: name(charge.face),
    endpoint: name(charge.endpoint),
    model: name(charge.model),
    at: whole(charge.at, LATEST_MS),
    status: whole(charge.status, 999),
    tokens: whole(charge.tokens),
    durationMs: whole(charge.durationMs),
  };
}

const name = (text: string) =>
  text.length > MAX_NAME || text.includes('\0') ? text.replaceAll('\0', '').slice(0, MAX_NAME) : text;
