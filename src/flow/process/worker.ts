/**
 * Runs an executor in its own process, as a worker of a deployment. When the process dies, only its running calls fail.
 * It is restarted at once after a long run, and with a growing delay after short ones.
 */
import { setMaxListeners } from 'node:events';
import { DeadlineExceededError, within } from '#concurrency/deadline.ts';
import type { Log } from '#telemetry/log.ts';
import type { ExecutorDeployment, ExecutorSource } from '../definition/definition.ts';
import { CATCH_ALL } from '../executor.ts';
import type { FlowObserver } from '../observer.ts';
import type { DataRequest } from '../request.ts';
import type { ExecutorPosition } from '../runtime/open-executor.ts';
import { type Worker, type WorkerCall, WorkerUnavailableError } from '../runtime/worker.ts';
import { failedRequest } from '../status.ts';
import { FRAME } from './frames.ts';
import { decodeAnswer, encodeCall, encodeText } from './messages.ts';
import { ExecutorClassMissingError, type Replica, startReplica } from './replica.ts';

export { ExecutorClassMissingError };

export interface ProcessWorkerOptions {
  readonly deployment: ExecutorDeployment;
  readonly source: ExecutorSource;
  readonly position: ExecutorPosition;
  readonly maxMemoryBytes: number;
  readonly stacks: boolean;
  readonly log?: Log | undefined;
  readonly observe?: FlowObserver | undefined;
  /** Aborted when the executor is no longer needed; a process that is starting is killed. */
  readonly signal: AbortSignal;
}

/** A process that ran longer than this is restarted without delay. */
const LONG_RUN_MS = 30_000;
const FIRST_DELAY_MS = 100;
/** Maximum delay after short runs. */
const MAX_DELAY_MS = 2000;
/** Maximum delay while the executor fails to start. */
const MAX_START_DELAY_MS = 10_000;
/** Calls wait for a restart within this time; otherwise they fail at once. */
const MAX_WAIT_MS = MAX_DELAY_MS;
/** After a call was aborted, a process that stays silent this long is killed. */
const SILENCE_MS = 10_000;
/** An aborted call is dropped after this time, because the executor may never answer. */
const DROP_MS = 30_000;
const CLOSE_MS = 10_000;

/** The process ended before it answered the request. */
class ExecutorDiedError extends Error {
  override readonly name = 'ExecutorDied';
}

interface PendingCall {
  readonly call: WorkerCall;
  readonly sentMs: number;
  resolve(request: DataRequest): void;
  reject(error: WorkerUnavailableError): void;
}

/**
 * Rejects with an ExecutorClassMissingError when no module has the class, and with the executor's error when it cannot
 * start.
 */
export async function openProcessWorker(options: ProcessWorkerOptions): Promise<Worker> {
  const { position, log, observe, signal } = options;
  const { name } = position;
  const stopped = new AbortController();
  const stop = () => stopped.abort();
  const calls = new Map<number, PendingCall>();
  /** Dropped calls whose answer may still arrive. */
  const dropped = new Set<number>();
  const pings = new Map<number, () => void>();
  let replica: Replica | undefined;
  /** Settles when the current or next start attempt ends. */
  let nextStart: Promise<void> | undefined;
  let nextAttemptMs = 0;
  let shortRuns = 0;
  let failedStarts = 0;
  let lastId = 0;
  /** Endpoints of the last process that was ready. */
  let endpoints: ReadonlySet<string> | undefined;
  let silence: NodeJS.Timeout | undefined;
  /** Whether the executor has closed itself or has been closed. */
  let hasClosed = false;
  let closing: Promise<void> | undefined;
  let restartTimer: NodeJS.Timeout | undefined;

  async function start(): Promise<void> {
    const startedMs = performance.now();
    replica = await startReplica({
      ...options,
      signal: stopped.signal,
      onFrame,
      onEnd: (reason) => onEnd(reason, startedMs),
    });
    failedStarts = 0;
    endpoints = replica.endpoints;
    replica.keepAlive(calls.size > 0);
  }

  function onFrame(kind: number, id: number, payload: Buffer): void {
    clearTimeout(silence);
    silence = undefined;
    if (kind === FRAME.pong) {
      pings.get(id)?.();
      return;
    }
    const pending = calls.get(id);
    if (!pending) {
      if (dropped.delete(id)) return;
      throw new RangeError('an answer without a call');
    }
    if (kind === FRAME.answer) {
      const { request, processed } = decodeAnswer(payload);
      if (processed) observe?.processed?.({ ...processed, runtime: name, executor: replica?.type ?? '' });
      pending.resolve(request);
    } else if (kind === FRAME.closedExecutor) {
      hasClosed = true;
      pending.reject(new WorkerUnavailableError('unreachable', payload.toString('utf8', 0, 1000)));
    } else {
      throw new RangeError(`an unexpected frame of kind ${kind}`);
    }
  }

  function onEnd(reason: string, startedMs: number): void {
    const ended = replica;
    replica = undefined;
    clearTimeout(silence);
    silence = undefined;
    const failed = [...calls.values()];
    if (!closing) {
      log?.error({ executor: name, reason, requests: failed.length }, 'the process of an executor ended');
    }
    for (const pending of failed) fail(pending, reason, ended);
    dropped.clear();
    if (closing || hasClosed) return;
    shortRuns = performance.now() - startedMs > LONG_RUN_MS ? 0 : shortRuns + 1;
    scheduleRestart();
  }

  function scheduleRestart(): void {
    const delay =
      failedStarts > 0
        ? Math.min(FIRST_DELAY_MS * 2 ** failedStarts, MAX_START_DELAY_MS)
        : shortRuns > 1
          ? Math.min(FIRST_DELAY_MS * 2 ** (shortRuns - 2), MAX_DELAY_MS)
          : 0;
    nextAttemptMs = performance.now() + delay;
    nextStart = new Promise<void>((resolve, reject) => {
      restartTimer = setTimeout(() => start().then(resolve, reject), delay).unref();
    });
    nextStart.then(
      () => log?.info({ executor: name }, 'executor restarted'),
      (error: Error) => {
        if (closing) return;
        failedStarts++;
        log?.error({ executor: name, reason: error.message }, 'an executor could not be restarted');
        scheduleRestart();
      },
    );
  }

  function fail(pending: PendingCall, reason: string, ended: Replica | undefined): void {
    const { call, sentMs } = pending;
    const type = ended?.type ?? '';
    const error = new ExecutorDiedError(`the process of ${name} ended before it answered: ${reason}`);
    const request = failedRequest(call.requests, error, type, false);
    const asked = request.header.execEndpoint ?? '';
    const endpoint = ended?.endpoints.has(asked) ? asked : CATCH_ALL;
    const [ms, documents] = [performance.now() - sentMs, request.docs.length];
    observe?.processed?.({ runtime: name, executor: type, endpoint, asked, ms, documents, failed: true });
    pending.resolve(request);
  }

  async function runningReplica(): Promise<Replica> {
    if (hasClosed || closing) throw new WorkerUnavailableError('unreachable', `${name} is closed`);
    if (replica) return replica;
    const waitMs = Math.ceil(nextAttemptMs - performance.now());
    if (waitMs > MAX_WAIT_MS) {
      throw new WorkerUnavailableError(
        'unreachable',
        `${name} has ended and restarts in ${Math.ceil(waitMs / 1000)} s`,
      );
    }
    await nextStart?.catch((error) => {
      throw new WorkerUnavailableError('unreachable', `${name} has ended and could not be restarted`, error);
    });
    if (!replica) throw new WorkerUnavailableError('unreachable', `${name} has ended`);
    return replica;
  }

  /** Cancels a call. If the process then gives no sign of life, the call is blocking it, so it is killed. */
  function cancelCall(asked: Replica, id: number, reason: unknown): void {
    asked.send(FRAME.cancel, id, encodeText(reason instanceof Error ? reason.message : String(reason)));
    asked.send(FRAME.ping, 0);
    silence ??= setTimeout(
      () => asked.end(`it gave no sign of life for ${SILENCE_MS / 1000} s after a call was cancelled`),
      SILENCE_MS,
    ).unref();
  }

  /** Unsigned 32-bit and never 0. */
  function nextId(): number {
    lastId = (lastId + 1) >>> 0 || 1;
    return lastId;
  }

  function callReplica(asked: Replica, call: WorkerCall): Promise<DataRequest> {
    return new Promise((resolve, reject) => {
      const id = nextId();
      let forgetting: NodeJS.Timeout | undefined;
      const onAbort = () => {
        cancelCall(asked, id, call.signal.reason);
        forgetting = setTimeout(() => {
          dropped.add(id);
          calls.get(id)?.reject(new WorkerUnavailableError('cancelled', `${name} did not answer`));
        }, DROP_MS).unref();
      };
      const settle = () => {
        clearTimeout(forgetting);
        calls.delete(id);
        call.signal.removeEventListener('abort', onAbort);
        if (calls.size === 0) asked.keepAlive(false);
      };
      asked.send(FRAME.call, id, ...encodeCall(call));
      if (calls.size === 0) asked.keepAlive(true);
      calls.set(id, {
        call,
        sentMs: performance.now(),
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

  async function close(): Promise<void> {
    clearTimeout(restartTimer);
    // Kills a process that is starting. A ready one closes itself.
    stop();
    signal.removeEventListener('abort', stop);
    await replica?.close(CLOSE_MS);
  }

  signal.addEventListener('abort', stop, { once: true });
  if (signal.aborted) stop();
  try {
    await start();
  } catch (error) {
    signal.removeEventListener('abort', stop);
    throw error;
  }

  return {
    address: 'own-process',
    endpoints: () => endpoints,
    isUnavailable: () => replica === undefined,
    async process(call) {
      const asked = await runningReplica();
      try {
        return await callReplica(asked, call);
      } catch (error) {
        if (error instanceof WorkerUnavailableError) throw error;
        return failedRequest(call.requests, error, asked.type, options.stacks);
      }
    },
    async ping(given) {
      const asked = await runningReplica();
      const id = nextId();
      const answered = new Promise<void>((resolve) => pings.set(id, resolve));
      asked.send(FRAME.ping, id);
      const stop = () => pings.get(id)?.();
      given.addEventListener('abort', stop, { once: true });
      try {
        await within(SILENCE_MS, answered);
        given.throwIfAborted();
      } catch (error) {
        throw error instanceof DeadlineExceededError
          ? new WorkerUnavailableError('unreachable', `${name} does not answer`, error)
          : error;
      } finally {
        given.removeEventListener('abort', stop);
        pings.delete(id);
      }
    },
    close() {
      closing ??= close();
      return closing;
    },
  };
}
