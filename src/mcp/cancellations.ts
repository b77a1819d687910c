/**
 * Cancels calls of sessions. The notification of a client may reach another server than the call; servers that share a
 * store pass it on through that store.
 */
import { createHash } from 'node:crypto';
import { type SharedStore, SharedUnavailableError } from '#storage/shared/values.ts';

export interface Cancellations {
  /** Calls `cancel` when the call is cancelled. Stops when `ended` settles. */
  watch(call: SessionCall, cancel: () => void, ended: Promise<unknown>): void;
  cancel(call: SessionCall): Promise<void>;
  close(): void;
}

export interface SessionCall {
  readonly session: string;
  /** The JSON-RPC id of the call. */
  readonly id: unknown;
}

export interface CancellationOptions {
  /** Shared with other servers; absent if there are none. */
  readonly store?: SharedStore | undefined;
}

const POLL_MS = 500;
/** How long a cancellation waits for the server of its call. Calls that nobody watches are ignored. */
const KEEP_MS = 30_000;
const MAX_WAITING = 10_000;

export function createCancellations({ store }: CancellationOptions): Cancellations {
  const waiting = store?.space({ name: 'cancelled calls', maxValues: MAX_WAITING });
  const running = new Map<string, () => void>();
  let timer: NodeJS.Timeout | undefined;

  async function poll(): Promise<void> {
    const names = [...running.keys()];
    const found = await waiting!.get(names).catch(unlessAway);
    for (const [at, value] of (found ?? []).entries()) if (value !== undefined) running.get(names[at]!)?.();
  }

  const schedule = () => {
    if (!waiting || timer || running.size === 0) return;
    timer = setTimeout(async () => {
      await poll().catch(() => {});
      timer = undefined;
      schedule();
    }, POLL_MS).unref();
  };

  return {
    watch(call, cancel, ended) {
      const name = nameOf(call);
      running.set(name, cancel);
      void ended.then(() => {
        if (running.get(name) === cancel) running.delete(name);
      });
      schedule();
    },
    async cancel(call) {
      const name = nameOf(call);
      const here = running.get(name);
      if (here) return here();
      await waiting?.set(name, '', KEEP_MS).catch(unlessAway);
    },
    close() {
      running.clear();
      clearTimeout(timer);
    },
  };
}

/** A call cannot be cancelled from another server while the store is away. The store itself logs that. */
function unlessAway(error: unknown): undefined {
  if (!(error instanceof SharedUnavailableError)) throw error;
}

/** Hashed, because ids of calls may be long. */
const nameOf = ({ session, id }: SessionCall): string =>
  createHash('sha256')
    .update(JSON.stringify([session, id]))
    .digest('base64url');
