/** Checks the bearer token of a gateway. */
import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';

const digest = (text: string) => createHash('sha256').update(text).digest();

/** Whether a request may be answered. Without a token, every request may. */
export function createTokenCheck(token: string | undefined): (request: Pick<IncomingMessage, 'headers'>) => boolean {
  if (!token) return () => true;
  const expected = digest(token);
  return ({ headers }) => {
    const [, bearer] = /^Bearer +(\S+) *$/i.exec(headers.authorization ?? '') ?? [];
    return bearer !== undefined && timingSafeEqual(digest(bearer), expected);
  };
}
