/**
 * Keeps models in memory within a byte limit. A model is loaded on first use. When another model needs the memory, the
 * least recently used model is evicted once its users have released it.
 */
import { unlessAborted } from '#concurrency/deadline.ts';
import type { Backend } from '../backend.ts';

export type LoadState = 'loaded' | 'loading' | 'failed' | 'asleep';

export interface ModelMemory {
  /** Waits until the model is loaded and keeps it loaded until the returned function is called once. */
  hold(backend: Backend, signal: AbortSignal): Promise<() => void>;
  loadState(backend: Backend): LoadState;
  /** Memory used by all loaded models, in bytes. */
  readonly bytes: number;
}

interface MemoryEntry {
  readonly backend: Backend;
  /** Number of callers that use the model or wait for it to load. It is not evicted until all have released it. */
  users: number;
  /** Sequence number of the last use; higher is more recent. */
  usedAt: number;
  loading: Promise<void> | undefined;
  /** Set while the model is being evicted and accepts no new users; resolves afterwards. */
  leaving: Promise<void> | undefined;
  failed: boolean;
  readonly backOff: LoadBackOff;
}

export interface ModelMemoryOptions {
  /** Maximum total memory of all models. A single larger model is loaded alone. */
  readonly maxBytes: number;
  /** Called once per failed attempt, even if several requests wait for it. */
  readonly onFailed?: (backend: Backend, error: unknown) => void;
  readonly now?: () => number;
}

export function createModelMemory({ maxBytes, onFailed = () => {}, now = Date.now }: ModelMemoryOptions): ModelMemory {
  const all = new Map<Backend, MemoryEntry>();
  let uses = 0;
  /** Loads run one after another, so that memory freed for one model is not used by another. */
  let lastLoad: Promise<unknown> = Promise.resolve();

  const entryOf = (backend: Backend): MemoryEntry => {
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
    const entry = entryOf(backend);
    signal.throwIfAborted();
    while (entry.leaving) await unlessAborted(signal, entry.leaving);
    entry.users++;
    const release = () => {
      entry.users--;
      eviction.onRelease();
    };
    try {
      if (!backend.loaded) await unlessAborted(signal, load(entry));
    } catch (error) {
      release();
      throw error;
    }
    entry.usedAt = ++uses;
    return release;
  }

  function load(entry: MemoryEntry): Promise<void> {
    entry.loading ??= fetchAndLoad(entry)
      .then(
        () => {
          entry.failed = false;
        },
        (error: unknown) => {
          entry.failed = true;
          throw error;
        },
      )
      .finally(() => {
        entry.loading = undefined;
      });
    return entry.loading;
  }

  async function fetchAndLoad(entry: MemoryEntry): Promise<void> {
    const stamp = await reportFailure(entry, async () => {
      await entry.backend.fetch?.();
      return entry.backend.stamp?.();
    });
    entry.backOff.check(stamp);
    const work = lastLoad.then(async () => {
      await eviction.freeMemoryFor(entry);
      await entry.backOff.attempt(stamp, () => entry.backend.load());
    });
    lastLoad = work.catch(() => {});
    await reportFailure(entry, () => work);
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
    loadState(backend) {
      if (backend.loaded) return 'loaded';
      const entry = all.get(backend);
      return entry?.loading ? 'loading' : entry?.failed ? 'failed' : 'asleep';
    },
    get bytes() {
      return totalBytes(loaded());
    },
  };
}

/** Frees memory for a model: evicts the least recently used of the other models, once their users have released them. */
interface Eviction {
  /** Evicts models until the new model fits within the limit, or no other model is left. */
  freeMemoryFor(newcomer: MemoryEntry): Promise<void>;
  /** Must be called after a user has released a model. */
  onRelease(): void;
}

interface EvictionOptions {
  readonly maxBytes: number;
  readonly loaded: () => readonly MemoryEntry[];
}

const totalBytes = (entries: readonly MemoryEntry[]): number =>
  entries.reduce((sum, { backend }) => sum + backend.memoryBytes, 0);

function createEviction({ maxBytes, loaded }: EvictionOptions): Eviction {
  let notifyRelease = () => {};

  async function freeMemoryFor(newcomer: MemoryEntry): Promise<void> {
    for (;;) {
      // Remote models use no memory on this machine.
      const others = loaded().filter((one) => one !== newcomer && one.backend.memoryBytes > 0);
      const newBytes = newcomer.backend.loaded ? 0 : newcomer.backend.memoryBytes;
      if (!others.length || totalBytes(loaded()) + newBytes <= maxBytes) return;
      const idle = others.filter(({ users }) => users === 0);
      const oldest = (idle.length ? idle : others).reduce((a, b) => (a.usedAt <= b.usedAt ? a : b));
      oldest.leaving = evict(oldest);
      await oldest.leaving;
    }
  }

  async function evict(entry: MemoryEntry): Promise<void> {
    try {
      while (entry.users > 0) {
        await new Promise<void>((resolve) => {
          notifyRelease = resolve;
        });
      }
      await entry.backend.unload();
    } finally {
      entry.leaving = undefined;
    }
  }

  return { freeMemoryFor, onRelease: () => notifyRelease() };
}

/** Back-off after a failed load: the error is repeated without a new attempt while the files are unchanged. */
interface LoadBackOff {
  /**
   * Throws the last error if the same files failed to load a short time ago. `stamp` is the fingerprint of the files.
   */
  check(stamp: string | undefined): void;
  /** Loads the model. A failure starts the back-off, or doubles it if the same files have failed before. */
  attempt(stamp: string | undefined, load: () => Promise<void>): Promise<void>;
}

interface Failure {
  readonly error: unknown;
  /** Fingerprint of the files that could not be loaded. */
  readonly stamp: string;
  readonly pauseMs: number;
  readonly until: number;
}

const FIRST_PAUSE_MS = 2_000;
const LONGEST_PAUSE_MS = 60_000;

function createLoadBackOff(now: () => number): LoadBackOff {
  /** The last failure; undefined if the last load succeeded. */
  let failure: Failure | undefined;
  return {
    check(stamp) {
      if (failure && failure.stamp === stamp && now() < failure.until) throw failure.error;
    },
    async attempt(stamp, load) {
      const before = failure?.stamp === stamp ? failure : undefined;
      failure = undefined;
      try {
        await load();
      } catch (error) {
        if (stamp !== undefined) {
          const pauseMs = before ? Math.min(before.pauseMs * 2, LONGEST_PAUSE_MS) : FIRST_PAUSE_MS;
          failure = { error, stamp, pauseMs, until: now() + pauseMs };
        }
        throw error;
      }
    },
  };
}
