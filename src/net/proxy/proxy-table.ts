/** Parses proxy URLs of callers and operators, and selects an operator proxy for the `proxy` option. */
import { problem } from '#errors.ts';
import { isUrl } from '#is-url.ts';
import type { Region } from '../region.ts';

/**
 * A proxy from the `proxies` setting. Only createProxyTable creates instances. Operator proxies are trusted; the guard
 * checks only proxies chosen by callers.
 */
export class OperatorProxy extends URL {
  readonly countries: readonly string[];
  /** Whether the operator marked the proxy as inside the EU. */
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
   * Selects a proxy for the `proxy` option, round-robin among the matching ones. Returns undefined for `none`, and for
   * `auto` if there are no proxies. Throws AssertionFailureError with `path` set to `proxy` if there is no proxy in
   * this country, or none configured.
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
/** RFC 1929 stores each length in one byte. */
const MAX_CREDENTIAL_BYTES = 255;

/**
 * Parses the URL of a proxy, including credentials. Host and port are normalized; SOCKS URLs always have a port. With
 * `socks4` and `socks5`, this server resolves target names; with `socks4a` and `socks5h`, the proxy does. Throws
 * ParamValidationError with `path` set to `proxyUrl`; its message contains no part of the URL.
 */
export function parseProxyUrl(text: string): URL {
  const trimmed = text.trim();
  if (trimmed.length > MAX_LENGTH) throw invalid(`The proxy URL is longer than ${MAX_LENGTH} characters`);
  if (!/^[a-z][a-z0-9+.-]*:\/\//i.test(trimmed) || !isUrl(trimmed))
    throw invalid('The proxy must be a URL such as http://host:port');
  const given = new URL(trimmed);
  if (!Object.hasOwn(SCHEMES, given.protocol))
    throw invalid('The scheme of the proxy URL must be http, https, socks4, socks4a, socks5 or socks5h');
  // The URL standard normalizes hosts only for well-known schemes, so the host is parsed again as part of an http URL.
  if (!given.hostname || !isUrl(`http://${given.hostname}/`)) throw invalid('The host of the proxy is not valid');
  const { hostname } = new URL(`http://${given.hostname}/`);
  const port = Number(given.port || SCHEMES[given.protocol]!);
  if (port === 0) throw invalid('The port of the proxy is not valid');
  const url = new URL(`${given.protocol}//${hostname}:${port}`);
  url.username = given.username;
  url.password = given.password;
  const { username, password } = credentialsOf(url) ?? { username: '', password: '' };
  if (Buffer.byteLength(username) > MAX_CREDENTIAL_BYTES || Buffer.byteLength(password) > MAX_CREDENTIAL_BYTES)
    throw invalid('The credentials of the proxy are too long');
  // RFC 7617, section 2: the first colon ends the user name.
  if (/[\0\r\n]/.test(username + password) || username.includes(':'))
    throw invalid('The credentials of the proxy are not valid');
  return url;
}

const invalid = (message: string) => problem('ParamValidationError', { path: 'proxyUrl', message });

/** Returns the percent-decoded user name and password of a URL. */
export function credentialsOf(proxy: URL): { username: string; password: string } | undefined {
  if (!proxy.username && !proxy.password) return undefined;
  return { username: plain(proxy.username), password: plain(proxy.password) };
}

/** The value of an Authorization header with the Basic scheme. */
export const basicAuthorization = ({ username, password }: { username: string; password: string }): string =>
  `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`;

function plain(encoded: string): string {
  try {
    return decodeURIComponent(encoded);
  } catch {
    return encoded;
  }
}

/** Throws an Error for an invalid entry. The error contains the entry's position in the list but not its URL. */
export function createProxyTable(entries: readonly ProxyEntry[], { region }: { readonly region: Region }): ProxyTable {
  const proxies = entries.map(({ url, ...marks }, index) => {
    try {
      return new OperatorProxy(parseProxyUrl(url), marks);
    } catch (error) {
      throw new Error(`proxy ${index + 1} of the list: ${(error as Error).message}`);
    }
  });
  let next = 0;

  return {
    pick(wanted) {
      if (wanted === 'none') return undefined;
      const anywhere = wanted === 'auto' || wanted === 'any';
      const fitting = proxies.filter((proxy) => anywhere || proxy.countries.includes(wanted));
      const allowed = fitting.filter((proxy) => region.allows(proxy));
      if (allowed.length) return allowed[next++ % allowed.length];
      if (wanted === 'auto') return undefined;
      throw problem('AssertionFailureError', { path: 'proxy', message: noProxyMessage(proxies, fitting, wanted) });
    },
  };
}

function noProxyMessage(proxies: readonly URL[], fitting: readonly URL[], wanted: string): string {
  if (!proxies.length) return 'This server has no proxies; the operator can set LECTERN_PROXIES';
  if (fitting.length) return 'No matching proxy is marked as inside the EU, and this server uses only such proxies';
  return `This server has no proxy in the country ${wanted.slice(0, 20)}`;
}
