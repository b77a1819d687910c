/** From the Authorization header to who asks. */
import type { FastifyRequest } from 'fastify';
import type { KeyRecord, Keys } from '#accounts/index.ts';
import { problem } from '#errors.ts';

export type Caller = { readonly kind: 'key'; readonly key: KeyRecord } | { readonly kind: 'anonymous' };

/**
 * The caller of a request. The key is the second word of the header, or the whole of it. No key is fine here;
 * a key that is not ours is AuthenticationFailedError.
 */
export function callerOf(request: FastifyRequest, keys: Keys): Caller {
  const header = request.headers.authorization?.trim();
  if (!header) return { kind: 'anonymous' };
  const [first = '', second] = header.split(/\s+/);
  const key = keys.identify(second ?? first);
  if (!key) throw problem('AuthenticationFailedError');
  return { kind: 'key', key };
}
