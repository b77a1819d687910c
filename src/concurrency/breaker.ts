/**
 * Circuit breaker for a server. After several consecutive failures, requests fail immediately for a while. Then one
 * request probes the server (Nygard, "Release It!").
 */

export interface BreakerOptions {
  /** Number of consecutive failures that open the breaker. */
  readonly failures: number;
  /** Length of the first open period. It doubles after each failed probe, up to `longestMs`. */
  readonly firstMs: number;
  readonly longestMs: number;
  /** Monotonic clock, in milliseconds. */
  readonly now: () => number;
  /** The error of a request that is not sent. `leftMs` is the rest of the open period; 0 while a probe is running. */
  readonly refusal: (leftMs: number) => Error;
  readonly onChange?: ((state: 'open' | 'closed') => void) | undefined;
}

/** Reports how an admitted request ended; only the first call counts. */
export interface Ticket {
  succeeded(): void;
  failed(): void;
  /** Call this if there is no result because the caller disconnected. */
  abandoned(): void;
}

export interface Breaker {
  /** Throws the `refusal` while the breaker is open. */
  enter(): Ticket;
}

export function createBreaker({ failures, firstMs, longestMs, now, refusal, onChange }: BreakerOptions): Breaker {
  let inARow = 0;
  /** Length of the open period; 0 while closed. */
  let openMs = 0;
  let openUntil = 0;
  let probing = false;

  function open(ms: number): void {
    if (!openMs) onChange?.('open');
    openMs = Math.min(ms, longestMs);
    openUntil = now() + openMs;
  }

  function close(): void {
    inARow = 0;
    if (openMs) onChange?.('closed');
    openMs = 0;
  }

  return {
    enter() {
      const isProbe = openMs > 0;
      if (isProbe) {
        const leftMs = openUntil - now();
        if (leftMs > 0 || probing) throw refusal(Math.max(leftMs, 0));
        probing = true;
      }
      let reported = false;
      const once = (then: () => void) => () => {
        if (reported) return;
        reported = true;
        if (isProbe) probing = false;
        then();
      };
      return {
        succeeded: once(close),
        failed: once(() => {
          inARow += 1;
          if (isProbe) open(openMs * 2);
          // Failures of requests that were sent before the breaker opened do not count.
          else if (!openMs && inARow >= failures) open(firstMs);
        }),
        abandoned: once(() => {}),
      };
    },
  };
}
