/** Checks the bearer token of a gateway. */
import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';

const digest = (text: string) => createHash('sha256').update(text).digest();

/** Whether a request may be answered. Without a token, every request may. */
export function createTokenCheck(token: string | undefined): (request: Pick<IncomingMessage, 'headers'>) => boolean {
  if (!token) return () => true;
  const right = digest(token);
  return ({ headers }) => {
    const [, given] = /^Bearer +(\S+) *$/i.exec(headers.authorization ?? '') ?? [];
    return given !== undefined && timingSafeEqual(digest(given), right);
  };
}
