/**
 * Yields the newest value of a source and skips older values that arrived while the consumer was busy. Use it if each
 * value replaces the previous one: a slow consumer does not delay the source, and always gets the last value.
 */
export async function* latestValues<T>(source: AsyncIterable<T>): AsyncGenerator<T> {
  let waiting: { value: T } | undefined;
  let ended: { error?: unknown; failed: boolean } | undefined;
  let wake = () => {};
  let stopped = false;
  const consuming = (async () => {
    try {
      for await (const value of source) {
        waiting = { value };
        wake();
        if (stopped) return;
      }
      ended = { failed: false };
    } catch (error) {
      ended = { failed: true, error };
    }
    wake();
  })();
  try {
    for (;;) {
      while (!waiting && !ended) {
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
      if (waiting) {
        const { value } = waiting;
        waiting = undefined;
        yield value;
      } else if (ended?.failed) throw ended.error;
      else if (ended) return;
    }
  } finally {
    // The source stops at its next value, or earlier if its own signal is aborted.
    stopped = true;
    consuming.catch(() => {});
  }
}
