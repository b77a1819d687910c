/** Equal workers: round robin over the replicas, with retries on another one when a worker is unavailable. */
import { DeadlineExceededError, within } from '#concurrency/deadline.ts';
import { cloneRequest, type DataRequest } from '../request.ts';
import { type UnavailableReason, type Worker, type WorkerCall, WorkerUnavailableError } from './worker.ts';

export interface ReplicasOptions {
  readonly workers: readonly Worker[];
  readonly timeoutSendMs: number | undefined;
  /** Retries after the first attempt; -1 for 3 or the number of workers, whichever is larger. */
  readonly retries: number;
  readonly retryTimeouts: boolean;
}

export interface Replicas {
  readonly addresses: readonly string[];
  endpoints(): ReadonlySet<string> | undefined;
  /** Throws the WorkerUnavailableError of the last attempt. */
  process(call: WorkerCall): Promise<DataRequest>;
  ping(signal: AbortSignal): Promise<void>;
  /** Waits up to `graceMs` for running calls. */
  close(graceMs: number): Promise<void>;
}

/** Back-off of an unreachable replica. It doubles with each failure up to the maximum. */
const FIRST_BACKOFF_MS = 250;
const MAX_BACKOFF_MS = 10_000;

interface Candidate {
  readonly worker: Worker;
  failures: number;
  backOffUntil: number;
}

export function createReplicas({ workers, timeoutSendMs, retries, retryTimeouts }: ReplicasOptions): Replicas {
  const candidates: Candidate[] = workers.map((worker) => ({ worker, failures: 0, backOffUntil: 0 }));
  const maxRetries = retries < 0 ? Math.max(3, workers.length) : retries;
  // After a timeout two attempts may run at once, so each needs its own documents.
  const copiesRequests = timeoutSendMs !== undefined && retryTimeouts && maxRetries > 0;
  let nextIndex = 0;
  let inWork = 0;
  let idle: (() => void) | undefined;

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
  function chooseNext(): Candidate {
    const now = performance.now();
    const isReady = ({ backOffUntil }: Candidate) => backOffUntil <= now;
    return (
      findNext((candidate) => isReady(candidate) && !candidate.worker.isUnavailable?.()) ??
      findNext(isReady) ??
      findNext(() => true)!
    );
  }

  function backOff(candidate: Candidate): void {
    candidate.backOffUntil = performance.now() + Math.min(FIRST_BACKOFF_MS * 2 ** candidate.failures, MAX_BACKOFF_MS);
    candidate.failures++;
  }

  const isRetryable = (reason: UnavailableReason): boolean =>
    reason === 'unreachable' || reason === 'cancelled' || (reason === 'timeout' && retryTimeouts);

  async function attempt(candidate: Candidate, call: WorkerCall): Promise<DataRequest> {
    if (timeoutSendMs === undefined) return candidate.worker.process(call);
    // Not AbortSignal.any: its signals stay registered with long-lived ones.
    const ended = new AbortController();
    const stop = () => ended.abort(call.signal.reason);
    if (call.signal.aborted) stop();
    call.signal.addEventListener('abort', stop, { once: true });
    try {
      return await within(timeoutSendMs, candidate.worker.process({ ...call, signal: ended.signal }));
    } catch (error) {
      if (!(error instanceof DeadlineExceededError)) throw error;
      ended.abort(error);
      throw new WorkerUnavailableError('timeout', 'Deadline Exceeded', error);
    } finally {
      call.signal.removeEventListener('abort', stop);
    }
  }

  async function process(call: WorkerCall): Promise<DataRequest> {
    for (let tries = 0; ; tries++) {
      const candidate = chooseNext();
      try {
        const own = copiesRequests ? { ...call, requests: call.requests.map(cloneRequest) } : call;
        const answer = await attempt(candidate, own);
        candidate.failures = 0;
        return answer;
      } catch (error) {
        if (!(error instanceof WorkerUnavailableError)) throw error;
        if (error.reason === 'unreachable') backOff(candidate);
        if (tries >= maxRetries || call.signal.aborted || !isRetryable(error.reason)) throw error;
      }
    }
  }

  async function waitUntilIdle(graceMs: number): Promise<void> {
    if (inWork === 0) return;
    const done = new Promise<void>((resolve) => {
      idle = resolve;
    });
    await within(graceMs, done).catch(() => {});
  }

  return {
    addresses: [...new Set(workers.map(({ address }) => address))],
    endpoints() {
      const known = candidates.map(({ worker }) => worker.endpoints());
      return known.find((endpoints) => endpoints !== undefined);
    },
    async process(call) {
      inWork++;
      try {
        return await process(call);
      } finally {
        if (--inWork === 0) idle?.();
      }
    },
    async ping(signal) {
      await Promise.all(workers.map((worker) => worker.ping(signal)));
    },
    async close(graceMs) {
      await waitUntilIdle(graceMs);
      await Promise.all(workers.map((worker) => worker.close()));
    },
  };
}
