/** Workers that do the same: each call goes to the next one, and to another when one is lost. */
import { DeadlineExceededError, within } from '#concurrency/deadline.ts';
import { cloneRequest, type DataRequest } from './request.ts';
import { type LostBecause, type Worker, type WorkerCall, WorkerUnavailableError } from './worker.ts';

export interface ReplicasOptions {
  readonly workers: readonly Worker[];
  readonly timeoutSendMs: number | undefined;
  /** More tries after the first; -1 for the larger of three and the number of workers. */
  readonly retries: number;
  readonly retryTimeouts: boolean;
}

export interface Replicas {
  readonly addresses: readonly string[];
  endpoints(): ReadonlySet<string> | undefined;
  /** Throws the WorkerLost of the last try. */
  process(call: WorkerCall): Promise<DataRequest>;
  ping(signal: AbortSignal): Promise<void>;
  /** Waits for calls in work, at most for `graceMs`. */
  close(graceMs: number): Promise<void>;
}

/** How long a replica that could not be reached is left alone, doubled each time up to the most. */
const FIRST_REST_MS = 250;
const LONGEST_REST_MS = 10_000;

interface Seat {
  readonly worker: Worker;
  rests: number;
  restsUntil: number;
}

export function createReplicas({ workers, timeoutSendMs, retries, retryTimeouts }: ReplicasOptions): Replicas {
  const seats: Seat[] = workers.map((worker) => ({ worker, rests: 0, restsUntil: 0 }));
  const moreTries = retries < 0 ? Math.max(3, workers.length) : retries;
  // A call that may be made twice at the same time must not share its documents with itself.
  const copies = timeoutSendMs !== undefined && retryTimeouts && moreTries > 0;
  let turn = 0;
  let inWork = 0;
  let idle: (() => void) | undefined;

  function nextOf(suits: (seat: Seat) => boolean): Seat | undefined {
    for (let at = 0; at < seats.length; at++) {
      const seat = seats[(turn + at) % seats.length]!;
      if (!suits(seat)) continue;
      turn = (turn + at + 1) % seats.length;
      return seat;
    }
    return undefined;
  }

  /** The next one in turn that is there and not resting; when none is, the next one. */
  function next(): Seat {
    const now = performance.now();
    const isRested = ({ restsUntil }: Seat) => restsUntil <= now;
    return nextOf((seat) => isRested(seat) && !seat.worker.isAway?.()) ?? nextOf(isRested) ?? nextOf(() => true)!;
  }

  function rest(seat: Seat): void {
    seat.restsUntil = performance.now() + Math.min(FIRST_REST_MS * 2 ** seat.rests, LONGEST_REST_MS);
    seat.rests++;
  }

  const isTriedAgain = (because: LostBecause): boolean =>
    because === 'unreachable' || because === 'cancelled' || (because === 'timeout' && retryTimeouts);

  async function attempt(seat: Seat, call: WorkerCall): Promise<DataRequest> {
    if (timeoutSendMs === undefined) return seat.worker.process(call);
    // Not AbortSignal.any: what it makes stays with signals that live long.
    const ended = new AbortController();
    const stop = () => ended.abort(call.signal.reason);
    if (call.signal.aborted) stop();
    call.signal.addEventListener('abort', stop, { once: true });
    try {
      return await within(timeoutSendMs, seat.worker.process({ ...call, signal: ended.signal }));
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
      const seat = next();
      try {
        const own = copies ? { ...call, requests: call.requests.map(cloneRequest) } : call;
        const answer = await attempt(seat, own);
        seat.rests = 0;
        return answer;
      } catch (error) {
        if (!(error instanceof WorkerUnavailableError)) throw error;
        if (error.because === 'unreachable') rest(seat);
        if (tries >= moreTries || call.signal.aborted || !isTriedAgain(error.because)) throw error;
      }
    }
  }

  async function drained(graceMs: number): Promise<void> {
    if (inWork === 0) return;
    const done = new Promise<void>((resolve) => {
      idle = resolve;
    });
    await within(graceMs, done).catch(() => {});
  }

  return {
    addresses: [...new Set(workers.map(({ address }) => address))],
    endpoints() {
      const known = seats.map(({ worker }) => worker.endpoints());
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
      await drained(graceMs);
      await Promise.all(workers.map((worker) => worker.close()));
    },
  };
}
