/** Shared values in the memory of one process. */
import type { SharedStore, SharedValues, Space } from './values.ts';

interface Entry {
  readonly value: string;
  readonly expiresAt: number;
}

export function createMemoryValues({ clock = Date.now }: { readonly clock?: () => number } = {}): SharedStore {
  const spaces = new Map<string, SharedValues>();
  return {
    space(space) {
      const known = spaces.get(space.name) ?? createSpace(space, clock);
      spaces.set(space.name, known);
      return known;
    },
    healthy: true,
    async close() {},
  };
}

function createSpace({ maxValues }: Space, clock: () => number): SharedValues {
  /** The values that were written first come first. */
  const entries = new Map<string, Entry>();
  const find = (name: string): string | undefined => {
    const entry = entries.get(name);
    if (entry && entry.expiresAt > clock()) return entry.value;
    entries.delete(name);
    return undefined;
  };
  const put = (name: string, value: string, keepMs: number) => {
    entries.delete(name);
    entries.set(name, { value, expiresAt: clock() + keepMs });
    if (entries.size > maxValues) entries.delete(entries.keys().next().value!);
  };
  return {
    get: async (names) => names.map(find),
    set: async (name, value, keepMs) => put(name, value, keepMs),
    async update(name, change) {
      const { value, keepMs = 0, result } = change(find(name), clock());
      if (value !== undefined) put(name, value, keepMs);
      return result;
    },
    async remove(name) {
      entries.delete(name);
    },
  };
}
