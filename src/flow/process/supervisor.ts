/**
 * Keeps the process of an executor running. It is restarted at once after a long run, and with a growing delay after
 * short ones.
 */
import { WorkerUnavailableError } from '../runtime/worker.ts';
import type { Calls } from './calls.ts';
import { type Replica, startReplica } from './replica.ts';
import { createRestartDelay, MAX_DELAY_MS } from './restart-delay.ts';
import type { ProcessWorkerOptions } from './worker.ts';

export interface Supervisor {
  /** Starts the first process. Rejects if the executor cannot start. */
  start(): Promise<void>;
  /** The running process. Waits for a restart that is due soon; throws a WorkerUnavailableError otherwise. */
  runningReplica(): Promise<Replica>;
  isRunning(): boolean;
  /** Endpoints of the last process that was ready. */
  endpoints(): ReadonlySet<string> | undefined;
  /** The executor has closed itself: its process is not restarted. */
  markClosed(): void;
  close(): Promise<void>;
}

/** Calls wait for a restart that is due within this time; otherwise they fail at once. */
const MAX_WAIT_MS = MAX_DELAY_MS;
const CLOSE_MS = 10_000;

export function createSupervisor(options: ProcessWorkerOptions, calls: Calls): Supervisor {
  const { log, signal } = options;
  const { name } = options.position;
  const stopped = new AbortController();
  const stop = () => stopped.abort();
  const restartDelay = createRestartDelay();
  let replica: Replica | undefined;
  /** Settles when the current or next start attempt ends. */
  let nextStart: Promise<void> | undefined;
  let nextStartMs = 0;
  let restartTimer: NodeJS.Timeout | undefined;
  let endpoints: ReadonlySet<string> | undefined;
  /** Whether the executor has closed itself. */
  let hasClosed = false;
  let isClosing = false;

  async function startProcess(): Promise<void> {
    const startedMs = performance.now();
    replica = await startReplica({
      ...options,
      signal: stopped.signal,
      onFrame: (kind, id, payload) => calls.receive(kind, id, payload, replica?.type ?? ''),
      onEnd: (reason) => onEnd(reason, startedMs),
    });
    restartDelay.started();
    endpoints = replica.endpoints;
    replica.keepAlive(calls.size > 0);
  }

  function onEnd(reason: string, startedMs: number): void {
    const ended = replica;
    replica = undefined;
    calls.stopWatch();
    if (!isClosing) log?.error({ executor: name, reason, requests: calls.size }, 'the process of an executor ended');
    calls.failAll(reason, ended);
    if (isClosing || hasClosed) return;
    restartDelay.ended(performance.now() - startedMs);
    scheduleRestart();
  }

  function scheduleRestart(): void {
    const delayMs = restartDelay.nextMs();
    nextStartMs = performance.now() + delayMs;
    nextStart = new Promise<void>((resolve, reject) => {
      restartTimer = setTimeout(() => startProcess().then(resolve, reject), delayMs).unref();
    });
    nextStart.then(
      () => log?.info({ executor: name }, 'executor restarted'),
      (error: Error) => {
        if (isClosing) return;
        restartDelay.failedToStart();
        log?.error({ executor: name, reason: error.message }, 'an executor could not be restarted');
        scheduleRestart();
      },
    );
  }

  return {
    async start() {
      signal.addEventListener('abort', stop, { once: true });
      if (signal.aborted) stop();
      try {
        await startProcess();
      } catch (error) {
        signal.removeEventListener('abort', stop);
        throw error;
      }
    },
    async runningReplica() {
      if (hasClosed || isClosing) throw new WorkerUnavailableError('unreachable', `${name} is closed`);
      if (replica) return replica;
      const waitMs = Math.ceil(nextStartMs - performance.now());
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
    },
    isRunning: () => replica !== undefined,
    endpoints: () => endpoints,
    markClosed() {
      hasClosed = true;
    },
    async close() {
      isClosing = true;
      clearTimeout(restartTimer);
      // Kills a process that is starting. A ready one closes itself.
      stop();
      signal.removeEventListener('abort', stop);
      await replica?.close(CLOSE_MS);
    },
  };
}
