/** From the start of an executor's process to its end: it is told who it is, says that it is ready, and is closed. */
import type { Log } from '#telemetry/log.ts';
import type { ExecutorPlace, ExecutorSource } from '../definition.ts';
import type { ReplicaPosition } from '../executor-source.ts';
import { type Child, startChild } from './child.ts';
import { FRAME, type OnFrame } from './frames.ts';
import { decodeNotStarted, decodeReady, encodeInit, type Ready } from './messages.ts';

export interface ReplicaOptions {
  readonly place: ExecutorPlace;
  readonly source: ExecutorSource;
  readonly seat: ReplicaPosition;
  readonly maxMemoryBytes: number;
  readonly stacks: boolean;
  readonly log?: Log | undefined;
  /** Kills the process while it starts. */
  readonly signal: AbortSignal;
  /** What it sends once it is ready. What is thrown ends it. */
  readonly onFrame: OnFrame;
  /** Called once, after it was ready. */
  readonly onEnd: (reason: string) => void;
}

export interface Replica extends Pick<Child, 'send' | 'end' | 'hold'> {
  /** Name of the class. */
  readonly type: string;
  readonly endpoints: ReadonlySet<string>;
  /** Lets the executor close itself for so long; rejects with why it did not. The process has ended then. */
  close(limitMs: number): Promise<void>;
}

/** None of the modules has the class. */
export class ExecutorClassMissingError extends Error {}

function initOf({ place, source, seat, stacks, log }: ReplicaOptions): Uint8Array {
  const { name, shards, replicas, env, workspace, exitOnExceptions, outputArrayType } = place;
  try {
    return encodeInit({
      place: { name, shards, replicas, env, workspace, exitOnExceptions, outputArrayType },
      source,
      seat,
      stacks,
      logLevel: log?.level,
    });
  } catch (error) {
    throw new Error(`its options cannot go to a process of its own: ${(error as Error).message}`, { cause: error });
  }
}

/** Rejects with ClassMissing, with what the executor throws, or with why the process ended. */
export function startReplica(options: ReplicaOptions): Promise<Replica> {
  const { seat, place, maxMemoryBytes, log, signal, onFrame, onEnd } = options;
  const init = initOf(options);
  return new Promise((resolve, reject) => {
    let isReady = false;
    let failure: Error | undefined;
    /** What it says of its own end; empty when that was well. */
    let farewell: string | undefined;
    let finish = (_reason: string) => {};
    const finished = new Promise<string>((done) => {
      finish = done;
    });

    const child = startChild({
      name: seat.name,
      env: place.env,
      maxMemoryBytes,
      log,
      onFrame(kind, id, payload) {
        if (kind === FRAME.ready && !isReady) ready(decodeReady(payload));
        else if (kind === FRAME.notStarted && !isReady) {
          const { message, missing } = decodeNotStarted(payload);
          failure = missing ? new ExecutorClassMissingError() : new Error(message);
          child.end('it could not start');
        } else if (kind === FRAME.closed) farewell = payload.toString('utf8', 0, 10_000);
        else if (isReady) onFrame(kind, id, payload);
        else throw new RangeError(`a frame of the kind ${kind} before it was ready`);
      },
      onEnd(reason) {
        signal.removeEventListener('abort', stop);
        finish(reason);
        if (isReady) onEnd(reason);
        else reject(failure ?? new Error(`its process ended while it was starting: ${reason}`));
      },
    });
    const stop = () => child.end('it is not wanted any more');
    signal.addEventListener('abort', stop, { once: true });
    if (signal.aborted) stop();
    child.hold(true);
    child.send(FRAME.init, 0, init);

    function ready({ type, endpoints }: Ready): void {
      isReady = true;
      signal.removeEventListener('abort', stop);
      resolve({ send: child.send, end: child.end, hold: child.hold, type, endpoints: new Set(endpoints), close });
    }

    async function close(limitMs: number): Promise<void> {
      child.hold(true);
      const timer = setTimeout(() => child.end(`it was not closed within ${limitMs / 1000} s`), limitMs);
      child.send(FRAME.close, 0);
      const reason = await finished;
      clearTimeout(timer);
      if (farewell !== '') throw new Error(farewell ?? `the process of ${seat.name} ended before that: ${reason}`);
    }
  });
}
