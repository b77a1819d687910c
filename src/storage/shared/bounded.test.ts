import { expect, it } from 'vitest';
import { boundedStore } from './bounded.ts';
import { createMemoryValues } from './memory.ts';
import { SharedUnavailableError } from './values.ts';

const SPACE = { name: 'teas', maxValues: 10 };

/** A store in memory whose calls fail while it is away. */
function failingStore() {
  const store = createMemoryValues();
  const state = { isAway: false, calls: 0 };
  const failing = {
    ...store,
    healthy: true,
    space(space: typeof SPACE) {
      const values = store.space(space);
      return {
        ...values,
        async get(names: readonly string[]) {
          state.calls++;
          if (state.isAway) throw new SharedUnavailableError();
          return values.get(names);
        },
      };
    },
  };
  return { failing, state };
}

it('says that a store is away, and that it is back without a call', async () => {
  const { failing, state } = failingStore();
  const lines: string[] = [];
  const note = (...args: unknown[]) => void lines.push(String(args.at(-1)));
  const store = boundedStore(failing, { log: { warn: note, info: note }, probeMs: 20 });
  state.isAway = true;
  await expect(store.space(SPACE).get(['green'])).rejects.toBeInstanceOf(SharedUnavailableError);
  expect(store.healthy).toBe(false);
  // A probe that fails is followed by another.
  await expect.poll(() => state.calls, { timeout: 10_000 }).toBeGreaterThan(1);
  expect(store.healthy).toBe(false);
  state.isAway = false;
  await expect.poll(() => store.healthy, { timeout: 10_000 }).toBe(true);
  expect(lines).toHaveLength(2);
  await store.close();
});

it('probes no longer once it is closed', async () => {
  const { failing, state } = failingStore();
  const store = boundedStore(failing, { probeMs: 20 });
  state.isAway = true;
  await store
    .space(SPACE)
    .get(['green'])
    .catch(() => {});
  await store.close();
  const { calls } = state;
  await new Promise((resolve) => setTimeout(resolve, 100));
  expect(state.calls).toBe(calls);
});
