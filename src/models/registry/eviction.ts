/**
 * Frees memory for a model. Evicts the least recently used of the other models, once their users have released them.
 */
import type { MemoryEntry } from './model-memory.ts';

export interface Eviction {
  /** Evicts models until the new model fits within the limit, or no other model is left. */
  freeMemoryFor(newcomer: MemoryEntry): Promise<void>;
  /** Must be called after a user has released a model. */
  onRelease(): void;
}

export interface EvictionOptions {
  readonly maxBytes: number;
  readonly loaded: () => readonly MemoryEntry[];
}

export const totalBytes = (entries: readonly MemoryEntry[]): number =>
  entries.reduce((sum, { backend }) => sum + backend.memoryBytes, 0);

export function createEviction({ maxBytes, loaded }: EvictionOptions): Eviction {
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
