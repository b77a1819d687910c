/**
 * Sends progress notifications while a tool is running, to clients that requested them. The protocol requires
 * increasing numbers, so between two completed steps, the number approaches the next step without reaching it.
 */
import type { ServerContext } from '@modelcontextprotocol/server';

const INTERVAL_MS = 3_000;
/** After this time the current step counts as about half done. */
const HALFWAY_MS = 10_000;

export interface Progress {
  /** Reports one more finished step. */
  done(message: string): void;
}

/** Runs `work` and sends progress notifications; `message` is shown until the first step is done. */
export async function withProgress<T>(
  { mcpReq }: ServerContext,
  total: number,
  message: string,
  work: (progress: Progress) => Promise<T>,
): Promise<T> {
  const progressToken = mcpReq._meta?.progressToken;
  if (progressToken === undefined) return work({ done() {} });
  const startedAt = performance.now();
  let parts = 0;
  let sent = -1;
  let words = message;
  const notify = () => {
    const elapsed = performance.now() - startedAt;
    const progress = Math.round((parts + (0.9 * elapsed) / (elapsed + HALFWAY_MS)) * 1e4) / 1e4;
    if (progress <= sent) return;
    sent = progress;
    // A failed notification is ignored: the transport handles a lost client.
    mcpReq
      .notify({ method: 'notifications/progress', params: { progressToken, progress, total, message: words } })
      .catch(() => {});
  };
  notify();
  const beat = setInterval(notify, INTERVAL_MS);
  try {
    return await work({
      done(next) {
        parts += 1;
        words = next;
        if (parts < total) notify();
      },
    });
  } finally {
    clearInterval(beat);
  }
}
