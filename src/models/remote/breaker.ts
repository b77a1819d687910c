/**
 * Spares a server that is away, and the callers who would wait for it: after some failures in a row nothing is asked for
 * a while, then one request tries (Nygard, "Release It!", circuit breaker).
 */
import { problem } from '#errors.ts';

export interface BreakerOptions {
  /** Failures in a row that open it. */
  readonly failures: number;
  /** How long it stays open first; twice as long after each try that fails, up to `longestMs`. */
  readonly firstMs: number;
  readonly longestMs: number;
  /** A clock that never goes back, in ms. */
  readonly now: () => number;
  readonly onChange?: ((state: 'open' | 'closed') => void) | undefined;
}

/** How a request that was let in went; the first word counts. */
export interface Ticket {
  succeeded(): void;
  failed(): void;
  /** Nothing was learnt: the caller has left. */
  left(): void;
}

export interface Breaker {
  /** Throws ServiceNodeResourceDrainError with `retryAfter` while it is open. */
  enter(): Ticket;
}

export function createBreaker({ failures, firstMs, longestMs, now, onChange }: BreakerOptions): Breaker {
  let inARow = 0;
  /** 0 while it is closed. */
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
        if (leftMs > 0 || probing) throw away(Math.max(leftMs, 0));
        probing = true;
      }
      let told = false;
      const once = (then: () => void) => () => {
        if (told) return;
        told = true;
        if (isProbe) probing = false;
        then();
      };
      return {
        succeeded: once(close),
        failed: once(() => {
          inARow += 1;
          if (isProbe) open(openMs * 2);
          // What was sent before it opened says nothing new.
          else if (!openMs && inARow >= failures) open(firstMs);
        }),
        left: once(() => {}),
      };
    },
  };
}

const away = (leftMs: number) =>
  problem('ServiceNodeResourceDrainError', {
    message: 'The model server is away for the moment, try again',
    retryAfter: Math.max(1, Math.ceil(leftMs / 1000)),
  });
