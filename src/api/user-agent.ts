/** Values of the `userAgent` option that depend on the caller (docs/reference/wire/reader.md, Option values). */
import type { FastifyRequest } from 'fastify';
import type { Caller } from '#accounts/index.ts';
import type { GivenOptions } from '#reader/index.ts';

/** The User-Agent of every current browser starts like this. */
const BROWSER = /^Mozilla\/5\.0/;
/** Maximum length of the option. */
const MAX_LENGTH = 512;

/**
 * Replaces `auto`, `inherit` and `pass-through` with the User-Agent of the request. If the caller has no key, replaces
 * the User-Agent of a browser with `browser`.
 */
export function resolveUserAgent<Given extends GivenOptions>(
  given: Given,
  { headers }: Pick<FastifyRequest, 'headers'>,
  caller: Pick<Caller, 'kind'>,
): Given {
  const asked = given.userAgent?.trim();
  if (!asked) return given;
  if (caller.kind === 'keyless' && BROWSER.test(asked)) return { ...given, userAgent: 'browser' };
  const word = asked.toLowerCase();
  const own = headers['user-agent']?.slice(0, MAX_LENGTH);
  const isOwn = word === 'inherit' || word === 'pass-through' || (word === 'auto' && own && BROWSER.test(own));
  return isOwn && own ? { ...given, userAgent: own } : given;
}
