/** How Redis or Valkey is spoken to. */

const CONNECT_MS = 3_000;

/**
 * Options of a client whose commands fail at once while it has no connection; `silenceMs` is how long a server may say
 * nothing. Throws for an address that cannot be read, without telling it: there may be a password in it.
 */
export function redisOptions(
  url: string,
  { pingMs, silenceMs }: { readonly pingMs: number; readonly silenceMs: number },
) {
  // The path is the number of a database.
  if (!/^rediss?:\/\//.test(url) || !URL.canParse(url) || !/^\/?\d*$/.test(new URL(url).pathname)) {
    throw new Error('the address of Redis must be redis://host:port/number, or rediss:// with TLS');
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
