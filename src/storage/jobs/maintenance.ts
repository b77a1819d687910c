/** What is done beside the work on jobs, again and again: soon where jobs are worked on, and now and then elsewhere. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Log } from '#telemetry/log.ts';

export interface MaintenanceOptions {
  /** What jobs of this kind are called in the log: `crawls`. */
  readonly plural: string;
  /** Done in their order; one that fails does not keep the others from being done. */
  readonly tasks: readonly ((signal: AbortSignal) => Promise<unknown>)[];
  /** Whether something is under way here that will want them soon. */
  readonly busy: () => boolean;
  /** How long they rest where nothing is: what another process has left is found by then. */
  readonly restMs: number;
  readonly log: Pick<Log, 'warn'>;
}

export interface Maintenance {
  /** There may be something to do. */
  wake(): void;
  close(): Promise<void>;
}

const BUSY_REST_MS = 1_000;

export function startMaintenance({ plural, tasks, busy, restMs, log }: MaintenanceOptions): Maintenance {
  const closing = new AbortController();
  const { signal } = closing;
  let wake = new AbortController();

  async function loop(): Promise<void> {
    while (!signal.aborted) {
      const woken = wake.signal;
      for (const chore of tasks) {
        await chore(signal).catch((err: unknown) => log.warn({ err }, `${plural} cannot be tidied up for the moment`));
      }
      const rest = busy() ? Math.min(BUSY_REST_MS, restMs) : restMs;
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
      closing.abort(new Error('the server is being stopped'));
      await looping;
    },
  };
}
