/** Chooses the replica for the next attempt: round robin, avoiding unreachable ones for a while. */
import type { Worker } from './worker.ts';

/** Back-off of an unreachable replica. It doubles with each failure up to the maximum. */
const FIRST_BACKOFF_MS = 250;
const MAX_BACKOFF_MS = 10_000;

export interface Candidate {
  readonly worker: Worker;
  /** Number of failures since the last success. */
  failures: number;
  /** End of the back-off, in milliseconds of `performance.now()`. */
  backOffUntil: number;
}

export interface Rotation {
  next(): Candidate;
  succeeded(candidate: Candidate): void;
  /** The worker could not be reached. */
  failed(candidate: Candidate): void;
}

export function createRotation(workers: readonly Worker[]): Rotation {
  const candidates: Candidate[] = workers.map((worker) => ({ worker, failures: 0, backOffUntil: 0 }));
  let nextIndex = 0;

  function findNext(accepts: (candidate: Candidate) => boolean): Candidate | undefined {
    for (let at = 0; at < candidates.length; at++) {
      const candidate = candidates[(nextIndex + at) % candidates.length]!;
      if (!accepts(candidate)) continue;
      nextIndex = (nextIndex + at + 1) % candidates.length;
      return candidate;
    }
    return undefined;
  }

  /**
   * The next available replica that is not backing off, else the next one that is not backing off, else the next one.
   */
  function next(): Candidate {
    const now = performance.now();
    const isReady = ({ backOffUntil }: Candidate) => backOffUntil <= now;
    return (
      findNext((candidate) => isReady(candidate) && !candidate.worker.isUnavailable?.()) ??
      findNext(isReady) ??
      findNext(() => true)!
    );
  }

  function failed(candidate: Candidate): void {
    candidate.backOffUntil = performance.now() + Math.min(FIRST_BACKOFF_MS * 2 ** candidate.failures, MAX_BACKOFF_MS);
    candidate.failures++;
  }

  return {
    next,
    succeeded(candidate) {
      candidate.failures = 0;
    },
    failed,
  };
}
