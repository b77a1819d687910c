/** Runs an async function on many items with limited concurrency. */

export interface EachOptions {
  readonly atOnce: number;
  readonly signal: AbortSignal;
}

/**
 * Returns the results in the order of the items. The first failure aborts the running work through its signal. It is
 * thrown after all running work has ended.
 */
export async function mapConcurrently<Thing, Result>(
  things: readonly Thing[],
  { atOnce, signal }: EachOptions,
  work: (thing: Thing, signal: AbortSignal) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = new Array(things.length);
  const failed = new AbortController();
  const stop = AbortSignal.any([signal, failed.signal]);
  const rest = things.entries();
  const lane = async () => {
    for (const [at, thing] of rest) {
      stop.throwIfAborted();
      try {
        results[at] = await work(thing, stop);
      } catch (error) {
        failed.abort(error);
        throw error;
      }
    }
  };
  await Promise.allSettled(Array.from({ length: Math.min(atOnce, things.length) }, lane));
  stop.throwIfAborted();
  return results;
}
