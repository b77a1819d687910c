/**
 * The runs in progress in this process. Renews their leases, and notifies them if the job is cancelled or the lease is
 * lost.
 */
import { type Lease, LeaseLostError } from './lease.ts';
import type { LeasedJob } from './lease-queries.ts';
import type { AnyStore } from './query-context.ts';
import type { JobColumns, JobTable } from './table.ts';

export interface ActiveRun {
  readonly lease: Lease;
  /** End of the lease, in milliseconds since 1970. */
  until: number;
  cancelling: boolean;
  /** Aborted when the lease is lost. */
  readonly lost: AbortController;
}

export interface ActiveRunsOptions<Row extends JobColumns> {
  readonly jobs: Pick<JobTable<Row>, 'renewLease'>;
  readonly store: AnyStore;
  readonly leaseMs: number;
  readonly now: () => number;
}

export function createActiveRuns<Row extends JobColumns>({ jobs, store, leaseMs, now }: ActiveRunsOptions<Row>) {
  const runs = new Map<string, ActiveRun>();

  /** Renews the lease, and detects its loss or a cancellation. */
  async function renew(run: ActiveRun): Promise<void> {
    const until = now() + leaseMs;
    try {
      const { cancelling } = await jobs.renewLease(store, run.lease, until);
      run.until = until;
      if (cancelling) run.cancelling = true;
    } catch (error) {
      // After any other error, the next renewal may still be in time, and every write checks the lease anyway.
      if (error instanceof LeaseLostError) run.lost.abort(error);
    }
  }

  return {
    /** Renews the lease of a run until the returned function is called. */
    begin({ row, lease }: LeasedJob<Row>): { readonly run: ActiveRun; readonly end: () => void } {
      const run: ActiveRun = {
        lease,
        until: row.lease_until,
        cancelling: row.cancelling === 1,
        lost: new AbortController(),
      };
      const renewals = setInterval(renew, leaseMs / 4, run);
      runs.set(row.id, run);
      return {
        run,
        end() {
          if (runs.get(row.id) === run) runs.delete(row.id);
          clearInterval(renewals);
        },
      };
    },
    /** Renews leases that have expired, for example because the process was suspended for a long time. */
    async renewExpired(): Promise<void> {
      await Promise.all([...runs.values()].filter(({ until }) => until <= now()).map(renew));
    },
    cancel(jobId: string): void {
      const run = runs.get(jobId);
      if (run) run.cancelling = true;
    },
    abandon(jobId: string): void {
      runs.get(jobId)?.lost.abort(new LeaseLostError());
    },
  };
}
