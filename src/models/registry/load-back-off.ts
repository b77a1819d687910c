/** Back-off after a failed load: the error is repeated without a new attempt while the files are unchanged. */

export interface LoadBackOff {
  /**
   * Throws the last error if the same files failed to load a short time ago. `stamp` is the fingerprint of the files.
   */
  check(stamp: string | undefined): void;
  /** Loads the model. A failure starts the back-off, or doubles it if the same files have failed before. */
  attempt(stamp: string | undefined, load: () => Promise<void>): Promise<void>;
}

interface Failure {
  readonly error: unknown;
  /** Fingerprint of the files that could not be loaded. */
  readonly stamp: string;
  readonly pauseMs: number;
  readonly until: number;
}

const FIRST_PAUSE_MS = 2_000;
const LONGEST_PAUSE_MS = 60_000;

export function createLoadBackOff(now: () => number): LoadBackOff {
  /** The last failure; undefined if the last load succeeded. */
  let failure: Failure | undefined;
  return {
    check(stamp) {
      if (failure && failure.stamp === stamp && now() < failure.until) throw failure.error;
    },
    async attempt(stamp, load) {
      const before = failure?.stamp === stamp ? failure : undefined;
      failure = undefined;
      try {
        await load();
      } catch (error) {
        if (stamp !== undefined) {
          const pauseMs = before ? Math.min(before.pauseMs * 2, LONGEST_PAUSE_MS) : FIRST_PAUSE_MS;
          failure = { error, stamp, pauseMs, until: now() + pauseMs };
        }
        throw error;
      }
    },
  };
}
