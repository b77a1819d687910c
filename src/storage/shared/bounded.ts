/**
 * Limits how long callers wait for a shared store. After a failure, calls fail immediately, and one call a second tries
 * whether the store is back; without calls, a probe does so. The log says once that the store is away, and once that it
 * is back.
 */
import type { Log } from '#telemetry/log.ts';
import { type SharedStore, SharedUnavailableError } from './values.ts';

export interface BoundedOptions {
  readonly log?: Pick<Log, 'warn' | 'info'> | undefined;
  /** Interval between probes of a store that is away, in milliseconds. */
  readonly probeMs?: number;
}

/** Longest wait for a call, in milliseconds. */
const WAIT_MS = 1_000;
const RETRY_MS = 1_000;
/** Of values that nobody writes. */
const PROBED_SPACE = { name: 'probe', maxValues: 1 };

export function boundedStore(store: SharedStore, { log, probeMs = 5_000 }: BoundedOptions = {}): SharedStore {
  let away = false;
  let retryAt = 0;
  let closed = false;
  let probe: NodeJS.Timeout | undefined;

  /** Without calls, the store would be reported as away for ever. */
  function probeLater(): void {
    if (closed) return;
    probe ??= setTimeout(async () => {
      probe = undefined;
      await call(() => store.space(PROBED_SPACE).get(['probe'])).catch(() => {});
      if (away) probeLater();
    }, probeMs).unref();
  }

  async function call<T>(work: () => Promise<T>): Promise<T> {
    if (away && performance.now() < retryAt) throw new SharedUnavailableError();
    // While this call tries the store, the others do not wait for it.
    if (away) retryAt = performance.now() + RETRY_MS + WAIT_MS;
    try {
      const result = await inTime(work());
      if (away) log?.info('the store of shared state answers again');
      away = false;
      return result;
    } catch (error) {
      if (error instanceof SharedUnavailableError) {
        if (!away)
          log?.warn({ err: error.cause }, 'the store of shared state is away: see Failures in the guide to scaling');
        away = true;
        probeLater();
        retryAt = performance.now() + RETRY_MS;
      }
      throw error;
    }
  }

  return {
    space(space) {
      const values = store.space(space);
      return {
        get: (names) => call(() => values.get(names)),
        set: (name, value, keepMs) => call(() => values.set(name, value, keepMs)),
        update: (name, change) => call(() => values.update(name, change)),
        remove: (name) => call(() => values.remove(name)),
      };
    },
    get healthy() {
      return store.healthy && !away;
    },
    close() {
      closed = true;
      clearTimeout(probe);
      return store.close();
    },
  };
}

async function inTime<T>(work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new SharedUnavailableError(new Error(`no answer in ${WAIT_MS} ms`))), WAIT_MS);
  });
  // A failure after the time limit has no other reader.
  work.catch(() => {});
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}
