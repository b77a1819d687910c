/** What is done beside the work on lines: jobs expire, ends are told and charged, what is not needed is removed. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { GuardedFetch } from '#net/fetch.ts';
import type { Log } from '#telemetry/log.ts';
import type { Job } from './job.ts';
import type { Links } from './links.ts';
import { removePieces } from './pieces.ts';
import {
  type BatchDb,
  expireJobs,
  forgetJobs,
  jobOf,
  littered,
  markCharged,
  markClean,
  setWebhook,
  takeWebhook,
  uncharged,
} from './store.ts';
import { tell } from './webhook.ts';

export interface ChoresOptions {
  readonly store: BatchDb;
  readonly fetch: GuardedFetch;
  readonly links: Links;
  /** May be called more than once for a job; it counts once. */
  readonly charge: (job: Job) => Promise<void>;
  readonly webhookRetryMs: readonly number[];
  readonly now: () => number;
  /** How long jobs are remembered after they were made. */
  readonly rememberMs: number;
  readonly log: Pick<Log, 'warn'>;
}

export interface Chores {
  /** There may be something to do. */
  wake(): void;
  close(): Promise<void>;
}

const LOOK_MS = 1_000;
/** Longer than telling takes: a process that died while it did is followed by another. */
const TELLING_MS = 60_000;

export function startChores({
  store,
  fetch,
  links,
  charge,
  webhookRetryMs,
  now,
  rememberMs,
  log,
}: ChoresOptions): Chores {
  const closing = new AbortController();
  const { signal } = closing;
  let wake = new AbortController();
  const telling = new Set<Promise<void>>();

  async function clean(): Promise<void> {
    for (let job = await littered(store); job && !signal.aborted; job = await littered(store)) {
      const kinds = job.litter === 'all' ? (['input', 'output', 'errors'] as const) : (['input'] as const);
      while (!signal.aborted && (await removePieces(store.db, job.id, kinds))) await sleep(1);
      if (!signal.aborted) await markClean(store, job);
    }
  }

  async function chargeAll(): Promise<void> {
    for (let row = await uncharged(store); row && !signal.aborted; row = await uncharged(store)) {
      await charge(jobOf(row));
      await markCharged(store, row.id);
    }
  }

  async function tellAll(): Promise<void> {
    for (;;) {
      const row = telling.size < MAX_TELLING ? await takeWebhook(store, now(), now() + TELLING_MS) : undefined;
      if (!row || signal.aborted) return;
      const told = tellOne(jobOf(row), row.webhook_tries).catch((error: unknown) => warn(error));
      telling.add(told);
      void told.then(() => telling.delete(told));
    }
  }

  async function tellOne(job: Job, tries: number): Promise<void> {
    const { webhookUrl } = job;
    if (webhookUrl === null) return;
    const told = await tell({ ...job, webhookUrl }, { links, fetch, signal, now: now() });
    const pauseMs = webhookRetryMs[tries - 1];
    await setWebhook(store, job.id, told || pauseMs === undefined ? null : now() + pauseMs);
  }

  const warn = (error: unknown) => log.warn({ err: error }, 'batch jobs cannot be tidied up for the moment');

  async function loop(): Promise<void> {
    while (!signal.aborted) {
      const woken = wake.signal;
      const chores = [
        () => expireJobs(store, now()),
        tellAll,
        chargeAll,
        clean,
        () => forgetJobs(store, now() - rememberMs),
      ];
      // One that fails does not keep the others from being done.
      for (const chore of chores) await chore().catch(warn);
      await sleep(LOOK_MS, undefined, { signal: AbortSignal.any([signal, woken]) }).catch(() => {});
    }
  }
  const looping = loop();

  return {
    wake() {
      wake.abort();
      wake = new AbortController();
    },
    async close() {
      closing.abort(new Error('the server is being stopped'));
      await looping;
      await Promise.all(telling);
    },
  };
}

/** Ends told at once: one that does not answer does not hold up the others. */
const MAX_TELLING = 8;
