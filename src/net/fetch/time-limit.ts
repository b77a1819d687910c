/** The time that a call has, and the caller's patience, as one signal. */

export interface TimeLimit {
  /** Aborted when the caller has gone or time is up. */
  readonly signal: AbortSignal;
  /** Whether time was up before the caller went. */
  isUp(): boolean;
  end(): void;
}

/** `reason` is that of the signal when time is up; the caller's own otherwise. */
export function limitTime(outer: AbortSignal | undefined, timeoutMs: number, reason: Error): TimeLimit {
  const controller = new AbortController();
  const leave = () => controller.abort(outer?.reason);
  outer?.addEventListener('abort', leave, { once: true });
  const timer = setTimeout(() => controller.abort(reason), timeoutMs);
  // While there is something to wait for a socket keeps the process up; an answer that nobody reads must not.
  timer.unref();
  return {
    signal: controller.signal,
    isUp: () => controller.signal.reason === reason,
    end() {
      clearTimeout(timer);
      outer?.removeEventListener('abort', leave);
    },
  };
}
