/** Computes the delay before the process of an executor is started again. */

/** A process that ran longer than this is restarted without delay. */
const LONG_RUN_MS = 30_000;
const FIRST_DELAY_MS = 100;
/** Maximum delay after short runs. */
export const MAX_DELAY_MS = 2000;
/** Maximum delay while the executor fails to start. */
const MAX_START_DELAY_MS = 10_000;

export interface RestartDelay {
  started(): void;
  failedToStart(): void;
  ended(runMs: number): void;
  /** The delay before the next start. It doubles with each failed start or short run, up to a maximum. */
  nextMs(): number;
}

export function createRestartDelay(): RestartDelay {
  let shortRuns = 0;
  let failedStarts = 0;
  return {
    started() {
      failedStarts = 0;
    },
    failedToStart() {
      failedStarts++;
    },
    ended(runMs) {
      shortRuns = runMs > LONG_RUN_MS ? 0 : shortRuns + 1;
    },
    nextMs() {
      if (failedStarts > 0) return Math.min(FIRST_DELAY_MS * 2 ** failedStarts, MAX_START_DELAY_MS);
      return shortRuns > 1 ? Math.min(FIRST_DELAY_MS * 2 ** (shortRuns - 2), MAX_DELAY_MS) : 0;
    },
  };
}
