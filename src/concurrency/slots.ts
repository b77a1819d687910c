/** Limits concurrency; waiting callers are served in order. */

export interface Slots {
  /** Waits for a slot; the returned function releases it. Throws the signal's reason. */
  take(signal: AbortSignal): Promise<() => void>;
}

export function createSlots(count: number): Slots {
  let free = count;
  const waiting = new Set<() => void>();

  function give(): () => void {
    let given = false;
    return () => {
      if (given) return;
      given = true;
      const [next] = waiting;
      if (!next) {
        free += 1;
        return;
      }
      waiting.delete(next);
      next();
    };
  }

  return {
    async take(signal) {
      signal.throwIfAborted();
      if (free > 0) {
        free -= 1;
        return give();
      }
      await new Promise<void>((resolve, reject) => {
        const leave = () => {
          waiting.delete(enter);
          reject(signal.reason);
        };
        const enter = () => {
          signal.removeEventListener('abort', leave);
          resolve();
        };
        waiting.add(enter);
        signal.addEventListener('abort', leave, { once: true });
      });
      return give();
    },
  };
}
