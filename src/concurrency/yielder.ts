/** Long computations that yield to the event loop between their steps. */

/**
 * Yields to the event loop if it has been blocked for too long; otherwise returns `undefined`. Rejects with the
 * signal's reason.
 */
export type YieldIfDue = () => Promise<void> | undefined;

/** Maximum time that work may block the event loop, in milliseconds. */
const MAX_BLOCKING_MS = 8;

export function createYielder(signal?: AbortSignal): YieldIfDue {
  let since = performance.now();
  return () => {
    if (performance.now() - since < MAX_BLOCKING_MS) return undefined;
    return new Promise((resolve, reject) => {
      setImmediate(() => {
        since = performance.now();
        if (signal?.aborted) reject(signal.reason);
        else resolve();
      });
    });
  };
}
