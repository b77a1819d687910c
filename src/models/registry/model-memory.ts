/**
 * Keeps models in memory within a byte limit. A model is loaded on first use. When another needs the memory, the least
 * recently used model is evicted, once its users have released it.
 */
import { unlessAborted } from '#concurrency/deadline.ts';
import type { Backend } from '../backends/backend.ts';
import { createEviction, totalBytes } from './eviction.ts';
import { createLoadBackOff, type LoadBackOff } from './load-back-off.ts';

export type LoadState = 'loaded' | 'loading' | 'failed' | 'asleep';

export interface ModelMemory {
  /** Waits until the model is loaded and keeps it loaded until the returned function is called once. */
  hold(backend: Backend, signal: AbortSignal): Promise<() => void>;
  residence(backend: Backend): LoadState;
  /** Memory of all loaded models, in bytes. */
  readonly bytes: number;
}

export interface MemoryEntry {
  readonly backend: Backend;
  /** Current holders and those waiting for the load; a model is not evicted before they release it. */
  users: number;
  /** Higher is more recent. */
  usedAt: number;
  loading: Promise<void> | undefined;
  /** Set while the model is being evicted and accepts no new users; resolves afterwards. */
  leaving: Promise<void> | undefined;
  failed: boolean;
  readonly backOff: LoadBackOff;
}

export interface ModelMemoryOptions {
  /** Limit for all models together. A single larger model is loaded alone. */
  readonly maxBytes: number;
  /** Called once per failed attempt, however many requests wait for it. */
  readonly onFailed?: (backend: Backend, error: unknown) => void;
  readonly now?: () => number;
}

export function createModelMemory({ maxBytes, onFailed = () => {}, now = Date.now }: ModelMemoryOptions): ModelMemory {
  const all = new Map<Backend, MemoryEntry>();
  let uses = 0;
  /** Serialises loads, so that memory freed for one model is not taken by another. */
  let lastLoad: Promise<unknown> = Promise.resolve();

  const residentOf = (backend: Backend): MemoryEntry => {
    const known = all.get(backend);
    if (known) return known;
    const made: MemoryEntry = {
      backend,
      users: 0,
      usedAt: 0,
      loading: undefined,
      leaving: undefined,
      failed: false,
      backOff: createLoadBackOff(now),
    };
    all.set(backend, made);
    return made;
  };
  const loaded = () => [...all.values()].filter(({ backend }) => backend.loaded);
  const eviction = createEviction({ maxBytes, loaded });

  async function hold(backend: Backend, signal: AbortSignal): Promise<() => void> {
    const resident = residentOf(backend);
    signal.throwIfAborted();
    while (resident.leaving) await unlessAborted(signal, resident.leaving);
    resident.users++;
    const release = () => {
      resident.users--;
      eviction.onRelease();
    };
    try {
      if (!backend.loaded) await unlessAborted(signal, load(resident));
    } catch (error) {
      release();
      throw error;
    }
    resident.usedAt = ++uses;
    return release;
  }

  function load(resident: MemoryEntry): Promise<void> {
    resident.loading ??= fetchAndLoad(resident)
      .then(
        () => {
          resident.failed = false;
        },
        (error: unknown) => {
          resident.failed = true;
          throw error;
        },
      )
      .finally(() => {
        resident.loading = undefined;
      });
    return resident.loading;
  }

  async function fetchAndLoad(resident: MemoryEntry): Promise<void> {
    const stamp = await reportFailure(resident, async () => {
      await resident.backend.fetch?.();
      return resident.backend.stamp?.();
    });
    resident.backOff.check(stamp);
    const work = lastLoad.then(async () => {
      await eviction.freeMemoryFor(resident);
      await resident.backOff.attempt(stamp, () => resident.backend.load());
    });
    lastLoad = work.catch(() => {});
    await reportFailure(resident, () => work);
  }

  async function reportFailure<T>({ backend }: MemoryEntry, work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      onFailed(backend, error);
      throw error;
    }
  }

  return {
    hold,
    residence(backend) {
      if (backend.loaded) return 'loaded';
      const resident = all.get(backend);
      return resident?.loading ? 'loading' : resident?.failed ? 'failed' : 'asleep';
    },
    get bytes() {
      return totalBytes(loaded());
    },
  };
}
