/** The URL of a browser on another machine, and the protocol that it speaks. */
import { isUrl } from '#is-url.ts';

export interface RemoteAddress {
  readonly url: string;
  /** `cdp`: the Chrome DevTools Protocol. `playwright`: a server started by Playwright of the same version. */
  readonly protocol: 'cdp' | 'playwright';
  /** Host and port, for the log. The rest of the URL may contain a token. */
  readonly name: string;
  /** Without brackets. */
  readonly host: string;
  readonly port: number;
}

/**
 * http and https are DevTools endpoints, and so are WebSocket URLs with the path of one (`/devtools/browser/…`). Other
 * WebSocket URLs are Playwright servers. Throws an Error that does not contain the URL.
 */
export function parseRemoteAddress(text: string): RemoteAddress {
  const url = isUrl(text) ? new URL(text) : undefined;
  if (!url || !/^(?:https?|wss?):$/.test(url.protocol))
    throw new Error('must be URLs that begin with http://, https://, ws:// or wss://, separated by commas');
  if (url.username || url.password)
    throw new Error('must not contain a user name: set LECTERN_BROWSER_TOKEN, or put the token into the query');
  const isSecure = /s:$/.test(url.protocol);
  return {
    url: url.href,
    protocol: url.protocol.startsWith('http') || url.pathname.startsWith('/devtools/') ? 'cdp' : 'playwright',
    name: url.host,
    host: url.hostname.replace(/^\[|\]$/g, ''),
    port: Number(url.port) || (isSecure ? 443 : 80),
  };
}
