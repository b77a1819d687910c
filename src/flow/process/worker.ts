/**
 * Runs an executor in its own process, as a worker of a deployment. When the process dies, only its running calls fail.
 * It is restarted at once after a long run, and with a growing delay after short ones.
 */
import type { Log } from '#telemetry/log.ts';
import type { ExecutorDeployment, ExecutorSource } from '../definition/definition.ts';
import type { FlowObserver } from '../observer.ts';
import type { ExecutorPosition } from '../runtime/open-executor.ts';
import { type Worker, WorkerUnavailableError } from '../runtime/worker.ts';
import { failedRequest } from '../status.ts';
import { createCalls } from './calls.ts';
import { ExecutorClassMissingError, type Replica, startReplica } from './replica.ts';
import { createRestartDelay, MAX_DELAY_MS } from './restart-delay.ts';

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

/** Calls wait for a restart within this time; otherwise they fail at once. */
const MAX_WAIT_MS = MAX_DELAY_MS;
const CLOSE_MS = 10_000;

/**
 * Rejects with an ExecutorClassMissingError when no module has the class, and with the executor's error when it cannot
 * start.
 */
export async function openProcessWorker(options: ProcessWorkerOptions): Promise<Worker> {
  const { log, observe, signal } = options;
  const { name } = options.position;
  const stopped = new AbortController();
  const stop = () => stopped.abort();
  const calls = createCalls({
    name,
    observe,
    onClosed: () => {
      hasClosed = true;
    },
  });
  const restartDelay = createRestartDelay();
  let replica: Replica | undefined;
  /** Settles when the current or next start attempt ends. */
  let nextStart: Promise<void> | undefined;
  let nextStartMs = 0;
  let restartTimer: NodeJS.Timeout | undefined;
  /** Endpoints of the last process that was ready. */
  let endpoints: ReadonlySet<string> | undefined;
  /** Whether the executor has closed itself. */
  let hasClosed = false;
  let closing: Promise<void> | undefined;

  async function start(): Promise<void> {
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
    if (!closing) log?.error({ executor: name, reason, requests: calls.size }, 'the process of an executor ended');
    calls.failAll(reason, ended);
    if (closing || hasClosed) return;
    restartDelay.ended(performance.now() - startedMs);
    scheduleRestart();
  }

  function scheduleRestart(): void {
    const delayMs = restartDelay.nextMs();
    nextStartMs = performance.now() + delayMs;
    nextStart = new Promise<void>((resolve, reject) => {
      restartTimer = setTimeout(() => start().then(resolve, reject), delayMs).unref();
    });
    nextStart.then(
      () => log?.info({ executor: name }, 'executor restarted'),
      (error: Error) => {
        if (closing) return;
        restartDelay.failedToStart();
        log?.error({ executor: name, reason: error.message }, 'an executor could not be restarted');
        scheduleRestart();
      },
    );
  }

  async function runningReplica(): Promise<Replica> {
    if (hasClosed || closing) throw new WorkerUnavailableError('unreachable', `${name} is closed`);
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
      const current = await runningReplica();
      try {
        return await calls.send(current, call);
      } catch (error) {
        if (error instanceof WorkerUnavailableError) throw error;
        return failedRequest(call.requests, error, current.type, options.stacks);
      }
    },
    async ping(pingSignal) {
      await calls.ping(await runningReplica(), pingSignal);
    },
    close() {
      closing ??= close();
      return closing;
    },
  };
}
