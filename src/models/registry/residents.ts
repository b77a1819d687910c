/**
 * Keeps models in memory within a byte limit. A model is loaded on first use. When another needs the memory, the least
 * recently used model is evicted, once its users have released it.
 */
import { unlessAborted } from '#concurrency/deadline.ts';
import type { Backend } from '../backends/backend.ts';

export type Residence = 'loaded' | 'loading' | 'failed' | 'asleep';

export interface Residents {
  /** Waits until the model is loaded, and keeps it loaded until the returned function is called. */
  hold(backend: Backend, signal: AbortSignal): Promise<() => void>;
  residence(backend: Backend): Residence;
  /** Memory of all loaded models, in bytes. */
  readonly bytes: number;
}

interface Resident {
  readonly backend: Backend;
  /** Current holders and those waiting for the load; a model is not evicted before they release it. */
  users: number;
  /** Higher is more recent. */
  usedAt: number;
  loading: Promise<void> | undefined;
  /** Set while the model is being evicted and accepts no new users; resolves afterwards. */
  leaving: Promise<void> | undefined;
  failed: boolean;
  /** The last load, if it failed. */
  failure: Failure | undefined;
}

interface Failure {
  readonly error: unknown;
  /** State of the files that could not be loaded. */
  readonly stamp: string;
  readonly pauseMs: number;
  readonly until: number;
}

export interface ResidentsOptions {
  /** Limit for all models together. A single larger model is loaded alone. */
  readonly maxBytes: number;
  /** Called once per failed attempt, however many requests wait for it. */
  readonly onFailed?: (backend: Backend, error: unknown) => void;
  readonly now?: () => number;
}

/** Back-off after a failed load: the error is repeated without a new attempt as long as the files are unchanged. */
const FIRST_PAUSE_MS = 2_000;
const LONGEST_PAUSE_MS = 60_000;

export function createResidents({ maxBytes, onFailed = () => {}, now = Date.now }: ResidentsOptions): Residents {
  const all = new Map<Backend, Resident>();
  let uses = 0;
  let freed = () => {};
  /** Serialises loads, so that memory freed for one model is not taken by another. */
  let lastLoad: Promise<unknown> = Promise.resolve();

  const residentOf = (backend: Backend): Resident => {
    const known = all.get(backend);
    if (known) return known;
    const made: Resident = {
      backend,
      users: 0,
      usedAt: 0,
      loading: undefined,
      leaving: undefined,
      failed: false,
      failure: undefined,
    };
    all.set(backend, made);
    return made;
  };
  const loaded = () => [...all.values()].filter(({ backend }) => backend.loaded);
  const bytes = () => loaded().reduce((sum, { backend }) => sum + backend.memoryBytes, 0);

  async function hold(backend: Backend, signal: AbortSignal): Promise<() => void> {
    const resident = residentOf(backend);
    signal.throwIfAborted();
    while (resident.leaving) await unlessAborted(signal, resident.leaving);
    resident.users++;
    const release = () => {
      resident.users--;
      freed();
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

  function load(resident: Resident): Promise<void> {
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

  async function fetchAndLoad(resident: Resident): Promise<void> {
    const stamp = await reportFailure(resident, async () => {
      await resident.backend.fetch?.();
      return resident.backend.stamp?.();
    });
    const { failure } = resident;
    if (failure && failure.stamp === stamp && now() < failure.until) throw failure.error;
    const work = lastLoad.then(async () => {
      await freeMemory(resident);
      await tryLoading(resident, stamp);
    });
    lastLoad = work.catch(() => {});
    await reportFailure(resident, () => work);
  }

  async function reportFailure<T>({ backend }: Resident, work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      onFailed(backend, error);
      throw error;
    }
  }

  async function tryLoading(resident: Resident, stamp: string | undefined): Promise<void> {
    const before = resident.failure?.stamp === stamp ? resident.failure : undefined;
    resident.failure = undefined;
    try {
      await resident.backend.load();
    } catch (error) {
      if (stamp !== undefined) {
        const pauseMs = before ? Math.min(before.pauseMs * 2, LONGEST_PAUSE_MS) : FIRST_PAUSE_MS;
        resident.failure = { error, stamp, pauseMs, until: now() + pauseMs };
      }
      throw error;
    }
  }

  async function freeMemory(newcomer: Resident): Promise<void> {
    for (;;) {
      // Remote models use no memory here.
      const others = loaded().filter((one) => one !== newcomer && one.backend.memoryBytes > 0);
      if (!others.length || bytes() + (newcomer.backend.loaded ? 0 : newcomer.backend.memoryBytes) <= maxBytes) return;
      const idle = others.filter(({ users }) => users === 0);
      const oldest = (idle.length ? idle : others).reduce((a, b) => (a.usedAt <= b.usedAt ? a : b));
      oldest.leaving = evict(oldest);
      await oldest.leaving;
    }
  }

  async function evict(resident: Resident): Promise<void> {
    try {
      while (resident.users > 0) {
        await new Promise<void>((resolve) => {
          freed = resolve;
        });
      }
      await resident.backend.unload();
    } finally {
      resident.leaving = undefined;
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
      return bytes();
    },
  };
}
