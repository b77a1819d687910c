/** Waits for the read of another server, so that servers with one cache read a page once (`CopyStore.claim`). */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Leases } from './leases.ts';

/** How long a server waits for the read of another one before it reads the page itself. */
const WAIT_MS = 15_000;
const FIRST_PAUSE_MS = 40;
const LONGEST_PAUSE_MS = 300;

/**
 * Waits until the lease of another server ends. Returns true if this server now holds the lease, because the other one
 * was killed. Throws the errors of the leases, and the reason of the signal.
 */
export async function waitForRead(leases: Leases, name: string, signal: AbortSignal): Promise<boolean> {
  const until = performance.now() + WAIT_MS;
  for (let pauseMs = FIRST_PAUSE_MS; performance.now() < until; pauseMs = Math.min(pauseMs * 1.5, LONGEST_PAUSE_MS)) {
    // The pause is random, so that servers that wait do not all ask at the same time.
    await sleep(pauseMs * (0.5 + Math.random()), undefined, { signal });
    const state = await leases.stateOf(name);
    // The read has ended. If it left no copy, waiting for yet another server would not help.
    if (state === 'none') return false;
    if (state === 'expired' && (await leases.take(name))) return true;
  }
  return false;
}
