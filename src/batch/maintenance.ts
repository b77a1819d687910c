/** Maintenance of batch jobs: expires jobs, sends webhooks, charges, and removes data that is no longer needed. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { GuardedFetch } from '#net/fetch/fetch.ts';
import { type Maintenance, type MaintenanceOptions, startMaintenance } from '#storage/jobs/maintenance.ts';
import { removeExpiredFiles } from './files.ts';
import type { Job } from './job.ts';
import type { Links } from './links.ts';
import { type BatchDb, removeUnusedObjects } from './objects.ts';
import { removePieces } from './pieces.ts';
import {
  findJobToCleanUp,
  findUncharged,
  JOBS,
  jobOf,
  markCharged,
  markCleanedUp,
  setWebhook,
  takeWebhook,
} from './store.ts';
import { sendWebhook } from './webhook.ts';

export interface BatchMaintenanceOptions extends Pick<MaintenanceOptions, 'busy' | 'restMs' | 'log'> {
  readonly store: BatchDb;
  readonly fetch: GuardedFetch;
  readonly links: Links;
  /** Charges a job. Must be idempotent for each job, because it may be called more than once. */
  readonly charge: (job: Job) => Promise<void>;
  readonly webhookRetryMs: readonly number[];
  readonly now: () => number;
  /** How long the rows of jobs are retained after their creation. */
  readonly rememberMs: number;
}

/**
 * Lease of a webhook delivery, in milliseconds. It is longer than a delivery takes. After it expires, another process
 * retries.
 */
const DELIVERY_LEASE_MS = 60_000;
/** Number of concurrent deliveries, so that a slow receiver does not delay the others. */
const MAX_DELIVERIES = 8;

export function startBatchMaintenance({
  store,
  charge,
  now,
  rememberMs,
  ...options
}: BatchMaintenanceOptions): Maintenance {
  async function clean(signal: AbortSignal): Promise<void> {
    for (let job = await findJobToCleanUp(store); job && !signal.aborted; job = await findJobToCleanUp(store)) {
      const kinds = job.litter === 'all' ? (['input', 'output', 'errors'] as const) : (['input'] as const);
      while (!signal.aborted && (await removePieces(store, job.id, kinds))) await sleep(1);
      if (!signal.aborted) await markCleanedUp(store, job);
    }
  }

  async function chargeAll(signal: AbortSignal): Promise<void> {
    for (let row = await findUncharged(store); row && !signal.aborted; row = await findUncharged(store)) {
      await charge(jobOf(row));
      await markCharged(store, row.id);
    }
  }

  const deliveries = createDeliveries({ store, now, ...options }, () => maintenance.wake());
  const maintenance = startMaintenance({
    ...options,
    plural: JOBS.plural,
    tasks: [
      () => JOBS.expire(store, now()),
      deliveries.deliverDue,
      chargeAll,
      clean,
      () => JOBS.forget(store, now() - rememberMs),
      () => removeExpiredFiles(store, now()),
    ],
  });
  // Separate, because a bucket that does not answer must not delay the other tasks.
  const { objects } = store;
  const removal =
    objects &&
    startMaintenance({
      ...options,
      plural: 'objects of batch jobs',
      tasks: [(signal) => removeUnusedObjects(store, objects, signal)],
    });
  return {
    wake: maintenance.wake,
    async close() {
      await maintenance.close();
      await removal?.close();
      await deliveries.close();
    },
  };
}

type TellingOptions = Pick<BatchMaintenanceOptions, 'store' | 'fetch' | 'links' | 'webhookRetryMs' | 'now' | 'log'>;

/** Sends webhooks of finished jobs. `onDue` is called when a delivery may be due. */
function createDeliveries({ store, fetch, links, webhookRetryMs, now, log }: TellingOptions, onDue: () => void) {
  const deliveries = new Set<Promise<void>>();
  const retries = new Set<NodeJS.Timeout>();

  async function deliverOne(job: Job, tries: number, signal: AbortSignal): Promise<void> {
    const { webhookUrl } = job;
    if (webhookUrl === null) return;
    const delivered = await sendWebhook({ ...job, webhookUrl }, { links, fetch, signal, now: now() });
    const pauseMs = delivered ? undefined : webhookRetryMs[tries - 1];
    await setWebhook(store, job.id, pauseMs === undefined ? null : now() + pauseMs);
    if (pauseMs === undefined || signal.aborted) return;
    const retry = setTimeout(() => {
      retries.delete(retry);
      onDue();
    }, pauseMs);
    retries.add(retry);
  }

  return {
    async deliverDue(signal: AbortSignal): Promise<void> {
      for (;;) {
        const row =
          deliveries.size < MAX_DELIVERIES ? await takeWebhook(store, now(), now() + DELIVERY_LEASE_MS) : undefined;
        if (!row || signal.aborted) return;
        const delivery = deliverOne(jobOf(row), row.webhook_tries, signal)
          .catch((err: unknown) => log.warn({ err }, 'could not send the webhook of a batch job, will retry'))
          .finally(() => {
            deliveries.delete(delivery);
            // More deliveries may be due than can run concurrently.
            onDue();
          });
        deliveries.add(delivery);
      }
    },
    async close() {
      await Promise.all(deliveries);
      for (const retry of retries) clearTimeout(retry);
    },
  };
}
