/** The life cycle of an executor's process: start, wait until it is ready, close. */
import type { Log } from '#telemetry/log.ts';
import type { ExecutorDeployment, ExecutorSource } from '../definition/definition.ts';
import type { ExecutorPosition } from '../runtime/open-executor.ts';
import { type Child, startChild } from './child.ts';
import { FRAME, type OnFrame } from './frames.ts';
import { decodeNotStarted, decodeReady, encodeInit, type Ready } from './messages.ts';

export interface ReplicaOptions {
  readonly deployment: ExecutorDeployment;
  readonly source: ExecutorSource;
  readonly position: ExecutorPosition;
  readonly maxMemoryBytes: number;
  readonly stacks: boolean;
  readonly log?: Log | undefined;
  /** Aborting this signal kills a process that is still starting. */
  readonly signal: AbortSignal;
  /** Called for frames after the process is ready. If it throws, the process is killed. */
  readonly onFrame: OnFrame;
  /** Called once when a ready process ends. */
  readonly onEnd: (reason: string) => void;
}

export interface Replica extends Pick<Child, 'send' | 'end' | 'keepAlive'> {
  /** Class name of the executor. */
  readonly type: string;
  readonly endpoints: ReadonlySet<string>;
  /** Asks the executor to close and waits up to `limitMs` until the process has ended. Rejects if closing failed. */
  close(limitMs: number): Promise<void>;
}

/** No module exports the class. */
export class ExecutorClassMissingError extends Error {}

function createInit({ deployment, source, position, stacks, log }: ReplicaOptions): Uint8Array {
  const { name, shards, replicas, env, workspace, exitOnExceptions, outputArrayType } = deployment;
  try {
    return encodeInit({
      deployment: { name, shards, replicas, env, workspace, exitOnExceptions, outputArrayType },
      source,
      position,
      stacks,
      logLevel: log?.level,
    });
  } catch (error) {
    throw new Error(`the options cannot be sent to another process: ${(error as Error).message}`, { cause: error });
  }
}

/** Rejects with an ExecutorClassMissingError, the executor's own error, or the reason why the process ended. */
export function startReplica(options: ReplicaOptions): Promise<Replica> {
  const { position, deployment, maxMemoryBytes, log, signal, onFrame, onEnd } = options;
  const init = createInit(options);
  return new Promise((resolve, reject) => {
    let isReady = false;
    let failure: Error | undefined;
    /** The error reported while closing; empty if closing succeeded. */
    let closeError: string | undefined;
    let finish = (_reason: string) => {};
    const finished = new Promise<string>((done) => {
      finish = done;
    });

    const child = startChild({
      name: position.name,
      env: deployment.env,
      maxMemoryBytes,
      log,
      onFrame(kind, id, payload) {
        if (kind === FRAME.ready && !isReady) ready(decodeReady(payload));
        else if (kind === FRAME.notStarted && !isReady) {
          const { message, missing } = decodeNotStarted(payload);
          failure = missing ? new ExecutorClassMissingError() : new Error(message);
          child.end('the executor could not start');
        } else if (kind === FRAME.closed) closeError = payload.toString('utf8', 0, 10_000);
        else if (isReady) onFrame(kind, id, payload);
        else throw new RangeError(`an unexpected frame of kind ${kind} before it was ready`);
      },
      onEnd(reason) {
        signal.removeEventListener('abort', stop);
        finish(reason);
        if (isReady) onEnd(reason);
        else reject(failure ?? new Error(`the process ended while it was starting: ${reason}`));
      },
    });
    const stop = () => child.end('it is no longer needed');
    signal.addEventListener('abort', stop, { once: true });
    if (signal.aborted) stop();
    child.keepAlive(true);
    child.send(FRAME.init, 0, init);

    function ready({ type, endpoints }: Ready): void {
      isReady = true;
      signal.removeEventListener('abort', stop);
      resolve({
        send: child.send,
        end: child.end,
        keepAlive: child.keepAlive,
        type,
        endpoints: new Set(endpoints),
        close,
      });
    }

    async function close(limitMs: number): Promise<void> {
      child.keepAlive(true);
      const timer = setTimeout(() => child.end(`it did not close within ${limitMs / 1000} s`), limitMs);
      child.send(FRAME.close, 0);
      const reason = await finished;
      clearTimeout(timer);
      if (closeError !== '')
        throw new Error(closeError ?? `the process of ${position.name} ended before it closed: ${reason}`);
    }
  });
}
