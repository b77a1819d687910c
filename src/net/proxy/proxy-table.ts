/** Proxies: how a caller or an operator names one, and which of the operator's serves a wish. */
import { problem } from '#errors.ts';
import type { Region } from '../region.ts';

/**
 * A proxy of the operator's table. Only the table makes them: its address is trusted and not held against the guard, as
 * that of a proxy is which a caller names.
 */
export class OperatorProxy extends URL {
  readonly countries: readonly string[];
  /** Marked as inside the EU. */
  readonly eu: boolean;

  constructor(url: URL, { countries, eu }: Omit<ProxyEntry, 'url'>) {
    super(url);
    this.countries = countries;
    this.eu = eu;
  }
}

export interface ProxyEntry {
  readonly url: string;
  /** Two-letter codes in lower case. */
  readonly countries: readonly string[];
  readonly eu: boolean;
}

export interface ProxyTable {
  /**
   * A proxy for the option `proxy`: those that fit take turns. Undefined for `none`, and for `auto` when there is no
   * proxy. AssertionFailureError, path `proxy`: nobody serves this country, or there are no proxies at all.
   */
  pick(wanted: string): OperatorProxy | undefined;
}

const SCHEMES: Record<string, number> = {
  'http:': 80,
  'https:': 443,
  'socks4:': 1080,
  'socks4a:': 1080,
  'socks5:': 1080,
  'socks5h:': 1080,
};
const MAX_LENGTH = 2_048;
/** RFC 1929: a byte tells the length of each. */
const MAX_CREDENTIAL_BYTES = 255;

/**
 * The address of a proxy with its credentials; host and port are in their plain spelling, and SOCKS always has a port.
 * With `socks4` and `socks5` we look a target's name up, with `socks4a` and `socks5h` the proxy does.
 * ParamValidationError, path `proxyUrl`; nothing of the text is in its message.
 */
export function parseProxyUrl(text: string): URL {
  const trimmed = text.trim();
  if (trimmed.length > MAX_LENGTH) throw invalid('The address of the proxy is too long');
  if (!/^[a-z][a-z0-9+.-]*:\/\//i.test(trimmed) || !URL.canParse(trimmed))
    throw invalid('The address of the proxy must be like http://host:port');
  const given = new URL(trimmed);
  if (!Object.hasOwn(SCHEMES, given.protocol))
    throw invalid('The proxy must be one of http, https, socks4, socks4a, socks5 and socks5h');
  // Only the hosts of well-known schemes are parsed by the URL standard; so every odd spelling is settled here.
  if (!given.hostname || !URL.canParse(`http://${given.hostname}/`))
    throw invalid('The host of the proxy is not valid');
  const { hostname } = new URL(`http://${given.hostname}/`);
  const port = Number(given.port || SCHEMES[given.protocol]!);
  if (port === 0) throw invalid('The port of the proxy is not valid');
  const url = new URL(`${given.protocol}//${hostname}:${port}`);
  url.username = given.username;
  url.password = given.password;
  const { username, password } = credentialsOf(url) ?? { username: '', password: '' };
  if (Buffer.byteLength(username) > MAX_CREDENTIAL_BYTES || Buffer.byteLength(password) > MAX_CREDENTIAL_BYTES)
    throw invalid('The credentials of the proxy are too long');
  // RFC 7617, section 2: the first colon ends a user name.
  if (/[\0\r\n]/.test(username + password) || username.includes(':'))
    throw invalid('The credentials of the proxy are not valid');
  return url;
}

const invalid = (message: string) => problem('ParamValidationError', { path: 'proxyUrl', message });

/** User name and password as they were before they were written into an address. */
export function credentialsOf(proxy: URL): { username: string; password: string } | undefined {
  if (!proxy.username && !proxy.password) return undefined;
  return { username: plain(proxy.username), password: plain(proxy.password) };
}

/** The value of an authorization header. */
export const basicAuthorization = ({ username, password }: { username: string; password: string }): string =>
  `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`;

function plain(encoded: string): string {
  try {
    return decodeURIComponent(encoded);
  } catch {
    return encoded;
  }
}

/** Throws the Error of an entry that is not valid; its address is not in the message, its place is. */
export function createProxyTable(entries: readonly ProxyEntry[], { region }: { readonly region: Region }): ProxyTable {
  const proxies = entries.map(({ url, ...marks }, index) => {
    try {
      return new OperatorProxy(parseProxyUrl(url), marks);
    } catch (error) {
      throw new Error(`proxy ${index + 1} of the list: ${(error as Error).message}`);
    }
  });
  let turn = 0;

  return {
    pick(wanted) {
      if (wanted === 'none') return undefined;
      const anywhere = wanted === 'auto' || wanted === 'any';
      const fitting = proxies.filter((proxy) => anywhere || proxy.countries.includes(wanted));
      const allowed = fitting.filter((proxy) => region.allows(proxy));
      if (allowed.length) return allowed[turn++ % allowed.length];
      if (wanted === 'auto') return undefined;
      throw problem('AssertionFailureError', { path: 'proxy', message: absence(proxies, fitting, wanted) });
    },
  };
}

function absence(proxies: readonly URL[], fitting: readonly URL[], wanted: string): string {
  if (!proxies.length) return 'This server has no proxies: its operator sets them in LECTERN_PROXIES';
  if (fitting.length) return 'No proxy that would serve this is marked as inside the EU, which this server keeps to';
  return `No proxy of this server is in the country ${wanted.slice(0, 20)}`;
}
