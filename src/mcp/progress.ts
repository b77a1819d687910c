/**
 * Signs of life while a tool works, for clients that asked for them. The numbers must grow with each sign, so between two
 * finished parts they creep towards the next one and never reach it.
 */
import type { ServerContext } from '@modelcontextprotocol/server';

const INTERVAL_MS = 3_000;
/** After so long the part at work is shown as half done. */
const HALFWAY_MS = 10_000;

export interface Progress {
  /** One more of the parts is done. */
  done(message: string): void;
}

/** Runs `work` and tells how far it is; `message` is what it does at first. */
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
  let told = -1;
  let words = message;
  const tell = () => {
    const elapsed = performance.now() - startedAt;
    const progress = Math.round((parts + (0.9 * elapsed) / (elapsed + HALFWAY_MS)) * 1e4) / 1e4;
    if (progress <= told) return;
    told = progress;
    // A client that is gone is noticed by others.
    mcpReq
      .notify({ method: 'notifications/progress', params: { progressToken, progress, total, message: words } })
      .catch(() => {});
  };
  tell();
  const beat = setInterval(tell, INTERVAL_MS);
  try {
    return await work({
      done(next) {
        parts += 1;
        words = next;
        if (parts < total) tell();
      },
    });
  } finally {
    clearInterval(beat);
  }
}
