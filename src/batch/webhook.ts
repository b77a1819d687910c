/** Telling a job's end to an address of its owner's (contract of the model host, 8.6). */
import { createHmac } from 'node:crypto';
import { Problem } from '#errors.ts';
import type { GuardedFetch } from '#net/fetch/fetch.ts';
import type { Job } from './job.ts';
import type { Links } from './links.ts';
import { showJob } from './shown.ts';

/** How long after each try that failed the next one is. */
export const RETRY_MS: readonly number[] = [5_000, 30_000, 120_000, 600_000];
const TIMEOUT_MS = 10_000;
const MAX_ANSWER_BYTES = 64 * 1024;

/** The header of a signature over a time in seconds since 1970 and the body. */
export const signatureOf = (secret: string, timestamp: string, body: string): string =>
  `sha256=${createHmac('sha256', secret).update(`${timestamp}.${body}`).digest('hex')}`;

/** Whether it was told: it is not when the other side cannot be reached or has a failure of its own. */
export async function tell(
  job: Job & { readonly webhookUrl: string },
  { links, fetch, signal, now }: { links: Links; fetch: GuardedFetch; signal: AbortSignal; now: number },
): Promise<boolean> {
  const body = JSON.stringify(showJob(job, links));
  const timestamp = String(Math.floor(now / 1000));
  try {
    const answer = await fetch(job.webhookUrl, {
      method: 'POST',
      headers: {
        'content-type': 'application/json; charset=utf-8',
        'x-batch-id': job.id,
        'x-webhook-timestamp': timestamp,
        'x-webhook-signature': signatureOf(links.webhookSecret(job.owner), timestamp, body),
      },
      body,
      signal,
      timeoutMs: TIMEOUT_MS,
      maxBytes: MAX_ANSWER_BYTES,
    });
    answer.discard();
    return answer.status < 500;
  } catch (error) {
    // Nobody may be told there, now or later.
    return error instanceof Problem && error.name === 'SecurityCompromiseError';
  }
}
