/**
 * Keeps what this server writes to a shared store also in its memory, and uses that copy while the store is away. For
 * counts that must continue then, even if each server counts alone.
 */
import { createMemoryValues } from './memory.ts';
import { type SharedStore, SharedUnavailableError, type SharedValues, type Space } from './values.ts';

export function withLocalCopy(
  store: SharedStore,
  options: { readonly clock?: () => number } = {},
): Pick<SharedStore, 'space'> {
  const memory = createMemoryValues(options);
  return { space: (space: Space) => copied(store.space(space), memory.space(space)) };
}

function copied(shared: SharedValues, local: SharedValues): SharedValues {
  async function orLocal<T>(work: Promise<T>, instead: () => Promise<T>): Promise<T> {
    return work.catch((error: unknown) => {
      if (error instanceof SharedUnavailableError) return instead();
      throw error;
    });
  }
  return {
    get: (names) => orLocal(shared.get(names), () => local.get(names)),
    async set(name, value, keepMs) {
      await local.set(name, value, keepMs);
      await orLocal(shared.set(name, value, keepMs), async () => {});
    },
    async update(name, change) {
      const here = await local.update(name, change);
      return orLocal(shared.update(name, change), async () => here);
    },
    async remove(name) {
      await local.remove(name);
      await orLocal(shared.remove(name), async () => {});
    },
  };
}
