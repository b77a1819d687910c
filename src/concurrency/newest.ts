/**
 * Takes values as they come, whether or not anybody is ready for them, and gives the newest to whoever asks. For values
 * of which each replaces the one before: a slow reader then holds nothing up, and always gets the last one.
 */
export async function* newest<T>(source: AsyncIterable<T>): AsyncGenerator<T> {
  let waiting: { value: T } | undefined;
  let ended: { error?: unknown; failed: boolean } | undefined;
  let wake = () => {};
  let stopped = false;
  const taking = (async () => {
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
    // The source ends at its next value, or at once when its own signal says so.
    stopped = true;
    taking.catch(() => {});
  }
}
