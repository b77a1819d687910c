/** Who may use the admin API: those who have its secret. Guesses are counted by the address that they come from. */
import { createHash, timingSafeEqual } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { limiterKeyOf } from '#accounts/index.ts';
import { problem } from '#errors.ts';
import { type Counters, CountersUnavailableError } from '#storage/counters/counters.ts';

/** Wrong secrets a minute of one address; after them the right one is refused too, or guessing would go on. */
const MAX_GUESSES = 20;
const AWAY_S = 2;

const digest = (text: string) => createHash('sha256').update(text).digest();

/** A hook that lets nobody in without `Bearer secret`. */
export function signIn(secret: string, counters: Pick<Counters, 'take'>) {
  const right = digest(secret);
  return async (request: FastifyRequest, reply: FastifyReply): Promise<void> => {
    const [, given] = /^bearer +(\S.*)$/i.exec(request.headers.authorization?.trim() ?? '') ?? [];
    // Digests are of one length, so comparing them tells nothing of the secret's.
    const isRight = given !== undefined && timingSafeEqual(digest(given), right);
    await count(counters, limiterKeyOf(request.ip), given !== undefined && !isRight);
    if (isRight) return;
    reply.header('www-authenticate', 'Bearer');
    throw problem(given === undefined ? 'AuthenticationRequiredError' : 'AuthenticationFailedError', {
      message: given === undefined ? 'The secret of the admin API is required' : 'This is not the secret',
    });
  };
}

/** Counts a guess, or looks whether there were too many. */
async function count(counters: Pick<Counters, 'take'>, address: string, isGuess: boolean): Promise<void> {
  const window = { bucket: `admin:${address}`, limit: MAX_GUESSES, amount: isGuess ? 1 : 0 };
  const taken = await counters.take({ windows: [window] }).catch((error: unknown) => {
    throw error instanceof CountersUnavailableError
      ? problem('ServiceAwayError', { retryAfter: AWAY_S }, error)
      : error;
  });
  const { used, resetMs } = taken.windows[0]!;
  if (taken.ok && (isGuess || used < MAX_GUESSES)) return;
  throw problem('RateLimitTriggeredError', {
    message: 'Too many wrong secrets from this address',
    retryAfter: Math.max(1, Math.ceil((taken.ok ? resetMs : taken.waitMs) / 1000)),
  });
}
