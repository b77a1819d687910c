/** Keeps values while they are used, and for some time afterwards. */

export interface IdleCache<Value> {
  /** Passes the value of a key to `work`, and makes the value before if there is none. Throws what `make` throws. */
  use<Result>(key: string, make: () => Promise<Value>, work: (value: Value) => Promise<Result>): Promise<Result>;
  /** Discards a value that turned out to be useless. The next use makes a new one. */
  drop(key: string): void;
  /** Discards all values. */
  close(): Promise<void>;
}

export interface IdleCacheOptions<Value> {
  /** How long a value is kept after its last use. */
  readonly idleMs: number;
  /** Errors are ignored. */
  readonly discard: (value: Value) => Promise<unknown>;
}

interface Entry<Value> {
  readonly value: Promise<Value>;
  users: number;
  timer: NodeJS.Timeout | undefined;
}

export function createIdleCache<Value>({ idleMs, discard }: IdleCacheOptions<Value>): IdleCache<Value> {
  const entries = new Map<string, Entry<Value>>();

  async function remove(key: string): Promise<void> {
    const entry = entries.get(key);
    if (!entry) return;
    entries.delete(key);
    clearTimeout(entry.timer);
    await entry.value.then(discard).catch(() => {});
  }

  return {
    async use(key, make, work) {
      const entry = entries.get(key) ?? { value: make(), users: 0, timer: undefined };
      entries.set(key, entry);
      clearTimeout(entry.timer);
      entry.users++;
      try {
        return await work(await entry.value);
      } finally {
        entry.users--;
        const isMade = await entry.value.then(
          () => true,
          () => false,
        );
        if (entry.users === 0 && entries.get(key) === entry) {
          if (isMade) entry.timer = setTimeout(() => void remove(key), idleMs).unref();
          else entries.delete(key);
        } else if (entry.users === 0 && isMade) await entry.value.then(discard).catch(() => {});
      }
    },
    drop(key) {
      const entry = entries.get(key);
      if (!entry) return;
      // Its last user discards it.
      if (entry.users > 0) entries.delete(key);
      else void remove(key);
    },
    async close() {
      await Promise.all([...entries.keys()].map(remove));
    },
  };
}
