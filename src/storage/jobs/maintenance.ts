/** Periodic maintenance of jobs: frequent while this process runs jobs, less often otherwise. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Log } from '#telemetry/log.ts';

export interface MaintenanceOptions {
  /** Name of these jobs in the log, such as `crawls`. */
  readonly plural: string;
  /** Tasks, run in order. A failing task does not prevent the next ones from running. */
  readonly tasks: readonly ((signal: AbortSignal) => Promise<unknown>)[];
  /** Whether jobs are running in this process. If so, they will soon need maintenance. */
  readonly busy: () => boolean;
  /**
   * Pause while no job is running in this process, in milliseconds. It determines how soon this process finds work left
   * by another process.
   */
  readonly restMs: number;
  readonly log: Pick<Log, 'warn'>;
}

export interface Maintenance {
  /** Ends the current pause. */
  wake(): void;
  close(): Promise<void>;
}

const MAX_BUSY_REST_MS = 1_000;

export function startMaintenance({ plural, tasks, busy, restMs, log }: MaintenanceOptions): Maintenance {
  const closing = new AbortController();
  const { signal } = closing;
  let wake = new AbortController();

  async function loop(): Promise<void> {
    while (!signal.aborted) {
      const woken = wake.signal;
      for (const task of tasks) {
        await task(signal).catch((err: unknown) =>
          log.warn({ err }, `maintenance of ${plural} failed: retrying later`),
        );
      }
      const rest = busy() ? Math.min(MAX_BUSY_REST_MS, restMs) : restMs;
      await sleep(rest, undefined, { signal: AbortSignal.any([signal, woken]) }).catch(() => {});
    }
  }
  const looping = loop();

  return {
    wake() {
      wake.abort();
      wake = new AbortController();
    },
    async close() {
      closing.abort(new Error('the server is shutting down'));
      await looping;
    },
  };
}
