/** Splits a batch into requests within the server's limits and sends them concurrently. */
import { setMaxListeners } from 'node:events';
import type { RequestLimits } from './protocol.ts';

/** Splits a list into runs within the limits; an item that exceeds them gets its own run. */
export function runsOf<Item extends { readonly tokens: number }>(
  items: readonly Item[],
  most: RequestLimits,
): Item[][] {
  const runs: Item[][] = [];
  let tokens = 0;
  for (const item of items) {
    const run = runs.at(-1);
    tokens += item.tokens;
    if (run && run.length < most.inputs && tokens <= most.tokens) run.push(item);
    else {
      runs.push([item]);
      tokens = item.tokens;
    }
  }
  return runs;
}

export const groupBy = <Item>(items: readonly Item[], key: (item: Item) => string): Item[][] => {
  const groups = new Map<string, Item[]>();
  for (const item of items) {
    const name = key(item);
    const group = groups.get(name);
    if (group) group.push(item);
    else groups.set(name, [item]);
  }
  return [...groups.values()];
};

/** Runs all tasks concurrently; the first failure aborts the others. */
export async function runAll<T>(
  signal: AbortSignal,
  works: readonly ((signal: AbortSignal) => Promise<T>)[],
): Promise<T[]> {
  signal.throwIfAborted();
  const controller = new AbortController();
  setMaxListeners(0, controller.signal);
  const abort = () => controller.abort(signal.reason);
  signal.addEventListener('abort', abort, { once: true });
  try {
    return await Promise.all(works.map((work) => work(controller.signal)));
  } catch (error) {
    controller.abort(error);
    throw error;
  } finally {
    signal.removeEventListener('abort', abort);
  }
}
