/**
 * Circuit breaker for a model server. After several consecutive failures, requests fail immediately for a while. Then
 * one request probes the server (Nygard, "Release It!").
 */
import { problem } from '#errors.ts';

export interface BreakerOptions {
  /** Number of consecutive failures that open the breaker. */
  readonly failures: number;
  /** Length of the first open period. It doubles after each failed probe, up to `longestMs`. */
  readonly firstMs: number;
  readonly longestMs: number;
  /** Monotonic clock, in milliseconds. */
  readonly now: () => number;
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
  /** Throws ServiceNodeResourceDrainError with `retryAfter` while the breaker is open. */
  enter(): Ticket;
}

export function createBreaker({ failures, firstMs, longestMs, now, onChange }: BreakerOptions): Breaker {
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
        if (leftMs > 0 || probing) throw unavailable(Math.max(leftMs, 0));
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

const unavailable = (leftMs: number) =>
  problem('ServiceNodeResourceDrainError', {
    message: 'The model server is temporarily unavailable; try again',
    retryAfter: Math.max(1, Math.ceil(leftMs / 1000)),
  });
