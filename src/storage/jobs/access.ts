/**
 * Finds, lists and cancels jobs for endpoints. Jobs past their expiry time expire on access, even before maintenance
 * runs.
 */
import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { AnyStore } from './query-context.ts';
import { isFinal } from './states.ts';
import type { JobColumns, JobTable } from './table.ts';
import type { Workers } from './workers.ts';

export interface JobAccessOptions<Row extends JobColumns, Job> {
  readonly store: AnyStore;
  readonly jobs: JobTable<Row>;
  readonly jobOf: (row: Row) => Job;
  readonly workers: Pick<Workers, 'cancel'> | undefined;
  readonly now: () => number;
  /** Called after jobs have expired, so that their data can be removed. */
  readonly onExpired: () => void;
}

export interface JobAccess<Job> {
  find(id: string): Promise<Job | undefined>;
  /** Lists jobs, newest first; with `after`, those that are older than that job. */
  list(owner: string, limit: number, after?: string): Promise<Job[]>;
  /** Cancels the job and waits for it to end. Returns it unchanged if it had already ended. */
  cancel(job: Job): Promise<Job>;
}

/** Time that a cancelled job's worker has to finish the work in progress, in milliseconds. */
const CANCEL_MS = 10_000;
const CANCEL_POLL_MS = 50;

export function createJobAccess<Row extends JobColumns, Job extends { readonly id: string }>({
  store,
  jobs,
  jobOf,
  workers,
  now,
  onExpired,
}: JobAccessOptions<Row, Job>): JobAccess<Job> {
  const isDue = (row: Row) => row.expires_at <= now() && row.state !== 'expired';

  async function expire(id?: string): Promise<void> {
    await jobs.expire(store, now(), id);
    onExpired();
  }

  async function findRow(id: string): Promise<Row | undefined> {
    const row = await jobs.find(store, id);
    if (!row || !isDue(row)) return row;
    await expire(id);
    return findRow(id);
  }

  async function waitForEnd(id: string): Promise<Row | undefined> {
    for (const until = now() + CANCEL_MS; now() < until; await sleep(CANCEL_POLL_MS)) {
      const row = await findRow(id);
      if (!row || isFinal(row.state)) return row;
    }
    await jobs.cancelNow(store, id, now());
    return findRow(id);
  }

  return {
    async find(id) {
      const row = await findRow(id);
      return row && jobOf(row);
    },
    async list(owner, limit, after) {
      const rows = await jobs.list(store, owner, limit, after);
      if (!rows.some(isDue)) return rows.map(jobOf);
      await expire();
      return (await jobs.list(store, owner, limit, after)).map(jobOf);
    },
    async cancel(job) {
      await jobs.requestCancel(store, job.id, now());
      workers?.cancel(job.id);
      const row = await waitForEnd(job.id);
      return row ? jobOf(row) : job;
    },
  };
}

const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz';

/**
 * Ids sort by creation time, to the millisecond, and cannot be guessed: they contain 48 bits of time and 80 random
 * bits.
 */
export function newJobId(kind: string, now: number): string {
  let time = '';
  for (let rest = now, at = 0; at < 10; at++, rest = Math.floor(rest / 32)) time = ALPHABET[rest % 32] + time;
  return `${kind}_${time}${Array.from(randomBytes(16), (byte) => ALPHABET[byte % 32]).join('')}`;
}
