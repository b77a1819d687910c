/** What is done beside the work on lines: jobs expire, ends are told and charged, what is not needed is removed. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { GuardedFetch } from '#net/fetch/fetch.ts';
import { type Chores, type ChoresOptions, startChores } from '#storage/jobs/maintenance.ts';
import type { Job } from './job.ts';
import type { Links } from './links.ts';
import { removePieces } from './pieces.ts';
import {
  type BatchDb,
  JOBS,
  jobOf,
  littered,
  markCharged,
  markClean,
  setWebhook,
  takeWebhook,
  uncharged,
} from './store.ts';
import { tell } from './webhook.ts';

export interface BatchChoresOptions extends Pick<ChoresOptions, 'busy' | 'restMs' | 'log'> {
  readonly store: BatchDb;
  readonly fetch: GuardedFetch;
  readonly links: Links;
  /** May be called more than once for a job; it counts once. */
  readonly charge: (job: Job) => Promise<void>;
  readonly webhookRetryMs: readonly number[];
  readonly now: () => number;
  /** How long jobs are remembered after they were made. */
  readonly rememberMs: number;
}

/** Longer than telling takes: a process that died while it did is followed by another. */
const TELLING_MS = 60_000;
/** Ends told at once: one that does not answer does not hold up the others. */
const MAX_TELLING = 8;

export function startBatchChores({ store, charge, now, rememberMs, ...options }: BatchChoresOptions): Chores {
  async function clean(signal: AbortSignal): Promise<void> {
    for (let job = await littered(store); job && !signal.aborted; job = await littered(store)) {
      const kinds = job.litter === 'all' ? (['input', 'output', 'errors'] as const) : (['input'] as const);
      while (!signal.aborted && (await removePieces(store.db, job.id, kinds))) await sleep(1);
      if (!signal.aborted) await markClean(store, job);
    }
  }

  async function chargeAll(signal: AbortSignal): Promise<void> {
    for (let row = await uncharged(store); row && !signal.aborted; row = await uncharged(store)) {
      await charge(jobOf(row));
      await markCharged(store, row.id);
    }
  }

  const telling = createTelling({ store, now, ...options }, () => chores.wake());
  const chores = startChores({
    ...options,
    plural: JOBS.plural,
    chores: [
      () => JOBS.expire(store, now()),
      telling.tellAll,
      chargeAll,
      clean,
      () => JOBS.forget(store, now() - rememberMs),
    ],
  });
  return {
    wake: chores.wake,
    async close() {
      await chores.close();
      await telling.close();
    },
  };
}

type TellingOptions = Pick<BatchChoresOptions, 'store' | 'fetch' | 'links' | 'webhookRetryMs' | 'now' | 'log'>;

/** Ends of jobs that are told to their webhooks; `onDue` is called when one may be told again. */
function createTelling({ store, fetch, links, webhookRetryMs, now, log }: TellingOptions, onDue: () => void) {
  const telling = new Set<Promise<void>>();
  const retries = new Set<NodeJS.Timeout>();

  async function tellOne(job: Job, tries: number, signal: AbortSignal): Promise<void> {
    const { webhookUrl } = job;
    if (webhookUrl === null) return;
    const told = await tell({ ...job, webhookUrl }, { links, fetch, signal, now: now() });
    const pauseMs = told ? undefined : webhookRetryMs[tries - 1];
    await setWebhook(store, job.id, pauseMs === undefined ? null : now() + pauseMs);
    if (pauseMs === undefined || signal.aborted) return;
    const retry = setTimeout(() => {
      retries.delete(retry);
      onDue();
    }, pauseMs);
    retries.add(retry);
  }

  return {
    async tellAll(signal: AbortSignal): Promise<void> {
      for (;;) {
        const row = telling.size < MAX_TELLING ? await takeWebhook(store, now(), now() + TELLING_MS) : undefined;
        if (!row || signal.aborted) return;
        const told = tellOne(jobOf(row), row.webhook_tries, signal)
          .catch((err: unknown) => log.warn({ err }, 'the end of a batch job cannot be told for the moment'))
          .finally(() => {
            telling.delete(told);
            // There may be more than are told at once.
            onDue();
          });
        telling.add(told);
      }
    },
    async close() {
      await Promise.all(telling);
      for (const retry of retries) clearTimeout(retry);
    },
  };
}
