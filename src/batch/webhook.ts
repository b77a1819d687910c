/** Sends the webhook of a finished job to its owner's URL (docs/reference/wire/models.md, Webhooks). */
import { createHmac } from 'node:crypto';
import type { GuardedFetch } from '#net/fetch/fetch.ts';
import { isGuardRefusal } from '#net/guard/guard.ts';
import type { Job } from './job.ts';
import { toJobJson } from './job-json.ts';
import type { Links } from './links.ts';

/** Delays between attempts, in milliseconds. */
export const RETRY_MS: readonly number[] = [5_000, 30_000, 120_000, 600_000];
const TIMEOUT_MS = 10_000;
const MAX_ANSWER_BYTES = 64 * 1024;

/** Value of the signature header: HMAC of the timestamp (seconds since 1970) and the body. */
export const signatureOf = (secret: string, timestamp: string, body: string): string =>
  `sha256=${createHmac('sha256', secret).update(`${timestamp}.${body}`).digest('hex')}`;

/**
 * Returns whether the delivery is complete. Returns false if the server is unreachable or responds with 5xx; the
 * delivery is then retried.
 */
export async function sendWebhook(
  job: Job & { readonly webhookUrl: string },
  { links, fetch, signal, now }: { links: Links; fetch: GuardedFetch; signal: AbortSignal; now: number },
): Promise<boolean> {
  const body = JSON.stringify(toJobJson(job, links));
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
    // If the URL is blocked, a retry would not help.
    return isGuardRefusal(error);
  }
}
