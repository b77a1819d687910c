/** Sends calls to an executor's process, matches responses by id, and kills a process that is blocked by a call. */
import { setMaxListeners } from 'node:events';
import { CATCH_ALL, DRY_RUN } from '../executor.ts';
import type { FlowObserver } from '../observer.ts';
import type { DataRequest } from '../request.ts';
import { OWN_PROCESS, type WorkerCall, WorkerUnavailableError } from '../runtime/worker.ts';
import { failedRequest } from '../status.ts';
import { FRAME } from './frames.ts';
import { decodeAnswer, encodeCall, encodeText } from './messages.ts';
import { createPings } from './pings.ts';
import type { Replica } from './replica.ts';
import { createSilenceWatch } from './silence-watch.ts';

/** A process that sends nothing for this long after an aborted call is killed. */
const SILENCE_MS = 10_000;
/** An aborted call is dropped after this time, because the executor may never respond. */
const DROP_MS = 30_000;

export interface CallsOptions {
  /** Name of the executor. */
  readonly name: string;
  /** Name of its deployment. */
  readonly deployment: string;
  readonly observe?: FlowObserver | undefined;
  /** Called when the process reports that the executor has closed itself. */
  readonly onClosed: () => void;
}

export interface Calls {
  /** Number of calls without a response. */
  readonly size: number;
  /** Resolves with the response. Rejects with a WorkerUnavailableError when the process does not respond. */
  send(replica: Replica, call: WorkerCall): Promise<DataRequest>;
  /** Rejects with a WorkerUnavailableError when the process does not respond in time. */
  ping(replica: Replica, signal: AbortSignal): Promise<void>;
  /** Handles a frame from the process. Throws if the frame is unexpected. `type` is the executor's class name. */
  receive(kind: number, id: number, payload: Buffer, type: string): void;
  /** Stops watching a process that has ended. */
  stopWatch(): void;
  /** Fails all calls of a process that has ended. */
  failAll(reason: string, ended: Replica | undefined): void;
}

/** The process ended before it responded to the request. */
class ExecutorDiedError extends Error {
  override readonly name = 'ExecutorDied';
}

interface PendingCall {
  readonly call: WorkerCall;
  readonly sentMs: number;
  readonly sentBytes: number;
  resolve(request: DataRequest): void;
  reject(error: WorkerUnavailableError): void;
}

export function createCalls(options: CallsOptions): Calls {
  const { name, deployment, observe, onClosed } = options;
  const pending = new Map<number, PendingCall>();
  /** Dropped calls whose response may still arrive. */
  const dropped = new Set<number>();
  const pings = createPings(name);
  const silence = createSilenceWatch(SILENCE_MS);
  let lastId = 0;

  /** Returns a new call id: an unsigned 32-bit integer, never 0. */
  function nextId(): number {
    lastId = (lastId + 1) >>> 0 || 1;
    return lastId;
  }

  /** Cancels a call. If the process then sends nothing, the call is blocking it, so the process is killed. */
  function cancel(replica: Replica, id: number, reason: unknown): void {
    replica.send(FRAME.cancel, id, encodeText(reason instanceof Error ? reason.message : String(reason)));
    replica.send(FRAME.ping, 0);
    silence.start(replica);
  }

  function send(replica: Replica, call: WorkerCall): Promise<DataRequest> {
    return new Promise((resolve, reject) => {
      const id = nextId();
      let dropTimer: NodeJS.Timeout | undefined;
      const onAbort = () => {
        cancel(replica, id, call.signal.reason);
        dropTimer = setTimeout(() => {
          dropped.add(id);
          pending.get(id)?.reject(new WorkerUnavailableError('cancelled', `${name} did not answer`));
        }, DROP_MS).unref();
      };
      const settle = () => {
        clearTimeout(dropTimer);
        pending.delete(id);
        call.signal.removeEventListener('abort', onAbort);
        if (pending.size === 0) replica.keepAlive(false);
      };
      const parts = encodeCall(call);
      replica.send(FRAME.call, id, ...parts);
      if (pending.size === 0) replica.keepAlive(true);
      pending.set(id, {
        call,
        sentMs: performance.now(),
        sentBytes: parts.reduce((sum, part) => sum + part.length, 0),
        resolve(request) {
          settle();
          resolve(request);
        },
        reject(error) {
          settle();
          reject(error);
        },
      });
      // One listener for each concurrent call, so the default limit does not apply.
      setMaxListeners(0, call.signal);
      call.signal.addEventListener('abort', onAbort, { once: true });
      if (call.signal.aborted) onAbort();
    });
  }

  function receive(kind: number, id: number, payload: Buffer, type: string): void {
    silence.stop();
    if (kind === FRAME.pong) {
      pings.receive(id);
      return;
    }
    const call = pending.get(id);
    if (!call) {
      if (dropped.delete(id)) return;
      throw new RangeError('an answer without a call');
    }
    if (kind === FRAME.answer) {
      const { request, processed } = decodeAnswer(payload);
      if (processed) observe?.processed?.({ ...processed, runtime: name, executor: type }, request);
      const [sentBytes, receivedBytes] = [call.sentBytes, payload.length];
      const asked = request.header.execEndpoint ?? '';
      observe?.exchanged?.({ deployment, address: OWN_PROCESS, sentBytes, receivedBytes });
      if (asked !== DRY_RUN) {
        observe?.served?.({ runtime: name, executor: type, asked, receivedBytes: sentBytes, sentBytes: receivedBytes });
      }
      call.resolve(request);
    } else if (kind === FRAME.closedExecutor) {
      onClosed();
      call.reject(new WorkerUnavailableError('unreachable', payload.toString('utf8', 0, 1000)));
    } else {
      throw new RangeError(`an unexpected frame of kind ${kind}`);
    }
  }

  return {
    get size() {
      return pending.size;
    },
    send,
    ping: (replica, signal) => pings.send({ replica, id: nextId(), timeoutMs: SILENCE_MS, signal }),
    receive,
    stopWatch: silence.stop,
    failAll(reason, ended) {
      for (const call of [...pending.values()]) fail(call, reason, ended, options);
      dropped.clear();
    },
  };
}

/** Resolves a call with a failed request, because its process has ended. */
function fail(
  { call, sentMs, resolve }: PendingCall,
  reason: string,
  ended: Replica | undefined,
  { name, observe }: CallsOptions,
): void {
  const type = ended?.type ?? '';
  const error = new ExecutorDiedError(`the process of ${name} ended before it answered: ${reason}`);
  const request = failedRequest(call.requests, error, type, false);
  const asked = request.header.execEndpoint ?? '';
  const endpoint = ended?.endpoints.has(asked) ? asked : CATCH_ALL;
  const [ms, documents] = [performance.now() - sentMs, request.docs.length];
  observe?.processed?.({ runtime: name, executor: type, endpoint, asked, ms, documents, failed: true }, request);
  resolve(request);
}
