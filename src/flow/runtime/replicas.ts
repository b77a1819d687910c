/** Distributes calls over equivalent workers: round robin, with retries on another worker if one is unavailable. */
import { DeadlineExceededError, within } from '#concurrency/deadline.ts';
import { cloneRequest, type DataRequest } from '../request.ts';
import { createRotation } from './rotation.ts';
import { type UnavailableReason, type Worker, type WorkerCall, WorkerUnavailableError } from './worker.ts';

export interface ReplicasOptions {
  readonly workers: readonly Worker[];
  readonly timeoutSendMs: number | undefined;
  /** Number of retries after the first attempt; -1 for 3 or the number of workers, whichever is larger. */
  readonly retries: number;
  readonly retryTimeouts: boolean;
}

export interface Replicas {
  readonly addresses: readonly string[];
  endpoints(): ReadonlySet<string> | undefined;
  /** Throws the WorkerUnavailableError from the last attempt. */
  process(call: WorkerCall): Promise<DataRequest>;
  ping(signal: AbortSignal): Promise<void>;
  /** Waits up to `graceMs` for running calls. */
  close(graceMs: number): Promise<void>;
}

export function createReplicas({ workers, timeoutSendMs, retries, retryTimeouts }: ReplicasOptions): Replicas {
  const rotation = createRotation(workers);
  const maxRetries = retries < 0 ? Math.max(3, workers.length) : retries;
  // After a timeout two attempts may run at once, so each needs its own documents.
  const copiesRequests = timeoutSendMs !== undefined && retryTimeouts && maxRetries > 0;
  let inWork = 0;
  let idle: (() => void) | undefined;

  const isRetryable = (reason: UnavailableReason): boolean =>
    reason === 'unreachable' || reason === 'cancelled' || (reason === 'timeout' && retryTimeouts);

  async function attempt(worker: Worker, call: WorkerCall): Promise<DataRequest> {
    if (timeoutSendMs === undefined) return worker.process(call);
    // AbortSignal.any is not used, because its signals remain registered with long-lived signals.
    const ended = new AbortController();
    const stop = () => ended.abort(call.signal.reason);
    if (call.signal.aborted) stop();
    call.signal.addEventListener('abort', stop, { once: true });
    try {
      return await within(timeoutSendMs, worker.process({ ...call, signal: ended.signal }));
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
      const candidate = rotation.next();
      try {
        const own = copiesRequests ? { ...call, requests: call.requests.map(cloneRequest) } : call;
        const answer = await attempt(candidate.worker, own);
        rotation.succeeded(candidate);
        return answer;
      } catch (error) {
        if (!(error instanceof WorkerUnavailableError)) throw error;
        if (error.reason === 'unreachable') rotation.failed(candidate);
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
      const known = workers.map((worker) => worker.endpoints());
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
