/** Decides which failures of a call are retried, and how long to wait before the retry. */
import { LecternError, LecternUnreachable } from './errors.ts';

/** Whether a failure is transient. */
export function isRetryable(error: unknown, idempotent: boolean): boolean {
  if (error instanceof LecternUnreachable) return idempotent || wasNeverSent(error);
  if (!(error instanceof LecternError)) return false;
  const { status, code } = error;
  // Without a code, 502 and 504 come from a proxy in front of the server. The server's own 504 would time out again.
  const isFromProxy = code === undefined && (status === 502 || status === 504);
  return status === 429 || status === 503 || (idempotent && isFromProxy);
}

/** Codes of connections that were never established, so nothing was sent: in Node and Deno, and in Bun. */
const NOT_CONNECTED = ['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'ConnectionRefused'];

function wasNeverSent({ cause }: LecternUnreachable): boolean {
  const { code } = ((cause as { cause?: unknown } | undefined)?.cause ?? cause ?? {}) as { code?: unknown };
  return typeof code === 'string' && NOT_CONNECTED.includes(code);
}

const FIRST_PAUSE_MS = 500;
const MAX_PAUSE_MS = 8_000;
/** Maximum wait. If the server requests a longer one, the call fails, and the caller decides what to do. */
const MAX_RETRY_AFTER_MS = 65_000;

/**
 * Back-off with jitter, so that clients that were refused at the same time do not retry at the same time. `undefined`
 * means no retry.
 */
export function pauseMs(tries: number, retryAfterMs: number | undefined): number | undefined {
  if (retryAfterMs !== undefined)
    return retryAfterMs > MAX_RETRY_AFTER_MS ? undefined : retryAfterMs + Math.random() * FIRST_PAUSE_MS;
  return Math.min(FIRST_PAUSE_MS * 2 ** tries, MAX_PAUSE_MS) * (0.5 + Math.random() / 2);
}
