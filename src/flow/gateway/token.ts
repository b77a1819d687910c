/** Checks the bearer token of a gateway. */
import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';

const digest = (text: string) => createHash('sha256').update(text).digest();

/** Returns a function that checks whether a request is authorized. If no token is set, every request is. */
export function createTokenCheck(token: string | undefined): (request: Pick<IncomingMessage, 'headers'>) => boolean {
  if (!token) return () => true;
  const expected = digest(token);
  return ({ headers }) => {
    const [, bearer] = /^Bearer +(\S+) *$/i.exec(headers.authorization ?? '') ?? [];
    return bearer !== undefined && timingSafeEqual(digest(bearer), expected);
  };
}
