/** Splits long computations into steps that yield to the event loop. */

/** Number of UTF-16 units of text per step. */
export const STEP_UNITS = 16_384;

/** Yields to the event loop if the step took too long. Rejects with the signal's reason. */
export type YieldIfDue = () => Promise<void> | undefined;

/** Maximum time that work may block the event loop, in milliseconds. */
const MAX_BLOCKING_MS = 8;

export function createYielder(signal: AbortSignal): YieldIfDue {
  let since = performance.now();
  return () => {
    if (performance.now() - since < MAX_BLOCKING_MS) return undefined;
    return new Promise((resolve, reject) => {
      setImmediate(() => {
        since = performance.now();
        if (signal.aborted) reject(signal.reason);
        else resolve();
      });
    });
  };
}
