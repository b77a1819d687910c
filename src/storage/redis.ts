/** Options of the Redis and Valkey client. */
import { isUrl } from '#is-url.ts';

const CONNECT_MS = 3_000;

/**
 * Options of a client whose commands fail immediately while it is disconnected. The connection is closed after
 * `silenceMs` without data from the server. Throws if the URL is invalid. The message omits the URL because it may
 * contain a password.
 */
export function redisOptions(
  url: string,
  { pingMs, silenceMs }: { readonly pingMs: number; readonly silenceMs: number },
) {
  // The path in the URL is a database number.
  if (!/^rediss?:\/\//.test(url) || !isUrl(url) || !/^\/?\d*$/.test(new URL(url).pathname)) {
    throw new Error('the Redis URL must be redis://host:port/database, or rediss:// for TLS; the database is a number');
  }
  return {
    url,
    socket: { connectTimeout: CONNECT_MS, socketTimeout: silenceMs },
    name: 'lectern',
    RESP: 2,
    disableClientInfo: true,
    disableOfflineQueue: true,
    maintNotifications: 'disabled',
    pingInterval: pingMs,
    commandOptions: { timeout: undefined },
  } as const;
}
