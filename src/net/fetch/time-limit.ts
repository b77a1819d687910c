/** Combines a timeout and the caller's signal into one signal. */

export interface TimeLimit {
  /** Aborted by the caller or by the timeout. */
  readonly signal: AbortSignal;
  /** Whether the signal was aborted by the timeout, not by the caller. */
  isUp(): boolean;
  end(): void;
}

/** The signal is aborted with `reason` on a timeout, or with the caller's reason if the caller aborts first. */
export function limitTime(outer: AbortSignal | undefined, timeoutMs: number, reason: Error): TimeLimit {
  const controller = new AbortController();
  const leave = () => controller.abort(outer?.reason);
  outer?.addEventListener('abort', leave, { once: true });
  const timer = setTimeout(() => controller.abort(reason), timeoutMs);
  // The socket keeps the process running while the response is read. The timer of an unread response must not do so.
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
