/**
 * Leases the next ready job: the job named in a notification or, without notifications, any ready job in the database.
 */
import type { LeasedJob } from './lease-queries.ts';
import type { JobNotifications } from './notifications.ts';
import type { AnyStore } from './query-context.ts';
import type { JobColumns, JobTable } from './table.ts';

export interface JobSourceOptions<Row extends JobColumns> {
  readonly jobs: Pick<JobTable<Row>, 'take' | 'waiting'>;
  readonly store: AnyStore;
  readonly leaseMs: number;
  readonly now: () => number;
  readonly notifications?: JobNotifications | undefined;
}

export interface JobSource<Row extends JobColumns> {
  /** Whether `take` waits for a notification. If not, the caller has to poll. */
  isNotified(): boolean;
  take(signal: AbortSignal): Promise<LeasedJob<Row> | undefined>;
}

/** Maximum number of waiting jobs that are announced again at once. */
const MAX_REANNOUNCED = 1_000;

export function createJobSource<Row extends JobColumns>(options: JobSourceOptions<Row>): JobSource<Row> {
  const { jobs, store, leaseMs, now, notifications } = options;
  let nextScanAt = 0;

  async function takeAny(): Promise<LeasedJob<Row> | undefined> {
    // The database is scanned once when notifications work again, to find jobs that could not be announced.
    nextScanAt = 0;
    return jobs.take(store, { now: now(), leaseMs });
  }

  /** Waits for a notification and leases that job if it is still ready. */
  async function takeNotified(source: JobNotifications, signal: AbortSignal): Promise<LeasedJob<Row> | undefined> {
    if (now() >= nextScanAt) {
      for (const id of await jobs.waiting(store, now(), MAX_REANNOUNCED)) source.announce(id, 0);
      // The database is scanned once per lease period, because a dead worker's job becomes ready only when its lease
      // expires.
      nextScanAt = now() + leaseMs;
    }
    const id = await source.next(signal);
    return id === undefined ? undefined : jobs.take(store, { now: now(), leaseMs, id });
  }

  const isNotified = () => notifications?.healthy ?? false;
  return {
    isNotified,
    take: (signal) => (notifications && isNotified() ? takeNotified(notifications, signal) : takeAny()),
  };
}
