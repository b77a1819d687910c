/** Long work in small steps, so that the process answers others in between. */

/** UTF-16 units of a text that are read between two breaths. */
export const STEP_UNITS = 16_384;

/** Lets others run when it is their turn; throws the signal's reason when the work is not wanted any more. */
export type Breathe = () => Promise<void> | undefined;

/** Work goes on for this long before others have their turn. */
const TURN_MS = 8;

export function createBreathe(signal: AbortSignal): Breathe {
  let since = performance.now();
  return () => {
    if (performance.now() - since < TURN_MS) return undefined;
    return new Promise((resolve, reject) => {
      setImmediate(() => {
        since = performance.now();
        if (signal.aborted) reject(signal.reason);
        else resolve();
      });
    });
  };
}
