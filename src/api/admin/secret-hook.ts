/** Authentication of the admin API by its secret. Attempts with a wrong secret are rate-limited per client IP. */
import { createHash, timingSafeEqual } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { limiterKeyOf } from '#accounts/index.ts';
import { problem } from '#errors.ts';
import { type Counters, CountersUnavailableError } from '#storage/counters/counters.ts';

/**
 * Maximum number of wrong secrets per minute and client IP. After that, even the right secret is refused, so that
 * guessing is pointless.
 */
const MAX_GUESSES = 20;
const RETRY_AFTER_S = 2;

const digest = (text: string) => createHash('sha256').update(text).digest();

/** A hook that refuses requests without `Authorization: Bearer SECRET`. */
export function createSecretHook(secret: string, counters: Pick<Counters, 'take'>) {
  const right = digest(secret);
  return async (request: FastifyRequest, reply: FastifyReply): Promise<void> => {
    const [, given] = /^bearer +(\S.*)$/i.exec(request.headers.authorization?.trim() ?? '') ?? [];
    // Digests have a fixed length, so the comparison does not reveal the length of the secret.
    const isRight = given !== undefined && timingSafeEqual(digest(given), right);
    await count(counters, limiterKeyOf(request.ip), given !== undefined && !isRight);
    if (isRight) return;
    reply.header('www-authenticate', 'Bearer');
    throw problem(given === undefined ? 'AuthenticationRequiredError' : 'AuthenticationFailedError', {
      message:
        given === undefined
          ? 'Send the secret of the admin API as Authorization: Bearer SECRET'
          : 'The secret of the admin API is wrong',
    });
  };
}

/** Counts a wrong secret, or checks whether there were too many. */
async function count(counters: Pick<Counters, 'take'>, limiterKey: string, isGuess: boolean): Promise<void> {
  const window = { bucket: `admin:${limiterKey}`, limit: MAX_GUESSES, amount: isGuess ? 1 : 0 };
  const taken = await counters.take({ windows: [window] }).catch((error: unknown) => {
    throw error instanceof CountersUnavailableError
      ? problem('ServiceAwayError', { retryAfter: RETRY_AFTER_S }, error)
      : error;
  });
  const { used, resetMs } = taken.windows[0]!;
  if (taken.ok && (isGuess || used < MAX_GUESSES)) return;
  throw problem('RateLimitTriggeredError', {
    message: 'Too many wrong secrets from this IP address',
    retryAfter: Math.max(1, Math.ceil((taken.ok ? resetMs : taken.waitMs) / 1000)),
  });
}
