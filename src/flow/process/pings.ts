/** Pings to an executor's process, matched with their responses by id. */
import { DeadlineExceededError, within } from '#concurrency/deadline.ts';
import { WorkerUnavailableError } from '../runtime/worker.ts';
import { FRAME } from './frames.ts';
import type { Replica } from './replica.ts';

export interface Ping {
  readonly replica: Replica;
  readonly id: number;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

export interface Pings {
  /** Rejects with a WorkerUnavailableError when the process does not respond in time. */
  send(ping: Ping): Promise<void>;
  receive(id: number): void;
}

/** `name` is the name of the executor. */
export function createPings(name: string): Pings {
  const pending = new Map<number, () => void>();
  const receive = (id: number) => pending.get(id)?.();
  return {
    receive,
    async send({ replica, id, timeoutMs, signal }) {
      const answered = new Promise<void>((resolve) => pending.set(id, resolve));
      replica.send(FRAME.ping, id);
      const stop = () => receive(id);
      signal.addEventListener('abort', stop, { once: true });
      try {
        await within(timeoutMs, answered);
        signal.throwIfAborted();
      } catch (error) {
        throw error instanceof DeadlineExceededError
          ? new WorkerUnavailableError('unreachable', `${name} does not respond`, error)
          : error;
      } finally {
        signal.removeEventListener('abort', stop);
        pending.delete(id);
      }
    },
  };
}
