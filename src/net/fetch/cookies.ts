/**
 * Parses the `setCookies` option: cookies in Set-Cookie syntax for one request (docs/reference/wire/reader.md,
 * Cookies). They apply to the host of the target unless they specify a Domain.
 */
import { domainToASCII } from 'node:url';
import { getPublicSuffix } from 'tldts';
import { CookieJar, MemoryCookieStore, parseDate, Cookie as StoredCookie } from 'tough-cookie';
import { problem } from '#errors.ts';
import { ownValue } from '#own-value.ts';

export { CookieJar } from 'tough-cookie';

export interface Cookie {
  readonly name: string;
  /** Percent-decoded. */
  readonly value: string;
  /**
   * The value in the Cookie header: the original value, with characters that a header cannot contain percent-encoded.
   */
  readonly wireValue: string;
  /** The host of the target (IP addresses without brackets), or the Domain without its leading dot. */
  readonly domain: string;
  /** Whether the cookie excludes subdomains. */
  readonly hostOnly: boolean;
  /** Default `/`, so that the cookie also applies after redirects within the host. */
  readonly path: string;
  /** Milliseconds since 1970. Default: the end of the request. */
  readonly expires?: number;
  readonly secure: boolean;
  readonly httpOnly: boolean;
  readonly sameSite?: 'Strict' | 'Lax' | 'None';
}

/** A cookie for `addCookies` of a Playwright browser context; `expires` is in seconds. */
export interface BrowserCookie {
  name: string;
  value: string;
  domain: string;
  path: string;
  expires?: number;
  httpOnly: boolean;
  secure: boolean;
  sameSite?: 'Strict' | 'Lax' | 'None';
}

const invalid = (message: string) => problem('ParamValidationError', { path: 'cookies', message });

/** Browsers reject cookies whose name and value are longer than this. */
const MAX_COOKIE_BYTES = 4_096;
const MAX_COOKIES = 180;

/**
 * Parses the `setCookies` option for a target. Expired cookies are dropped; a later cookie replaces an earlier one with
 * the same name, domain and path. Throws ParamValidationError with `path` set to `cookies` if a cookie is invalid or a
 * browser would reject it.
 */
export function parseSetCookies(input: string | readonly string[], targetUrl: string | URL): Cookie[] {
  const target = new URL(targetUrl);
  const texts = (typeof input === 'string' ? [input] : input).flatMap(splitCookies);
  if (texts.length > MAX_COOKIES) throw invalid(`Too many cookies: at most ${MAX_COOKIES} are allowed`);
  const cookies = new Map<string, Cookie>();
  for (const text of texts) {
    const cookie = parseCookie(text, target);
    const key = JSON.stringify([cookie.name, cookie.domain, cookie.path]);
    cookies.delete(key);
    if (cookie.expires === undefined || cookie.expires > Date.now()) cookies.set(key, cookie);
  }
  return [...cookies.values()];
}

/** Splits at a comma only if a name and `=` follow it, because dates and values contain commas too. */
const splitCookies = (text: string): string[] =>
  text
    .split(/,[ \t]*(?=[^\s=;,"]+=)/)
    .map((part) => part.trim())
    .filter(Boolean);

function parseCookie(text: string, target: URL): Cookie {
  const [pair = '', ...attributeTexts] = text.split(';');
  const cut = pair.indexOf('=');
  const name = pair.slice(0, cut).trim();
  const given = pair.slice(cut + 1).trim();
  if (cut < 1 || !/^[^\s=;,"\x00-\x1f\x7f]+$/.test(name)) throw invalid('A cookie must begin with name=value');
  if (/[\x00-\x08\x0a-\x1f\x7f]/.test(given))
    throw invalid(`The value of the cookie ${name} contains control characters`);
  const attributes = parseAttributes(attributeTexts);
  const wireValue = encodeValue(given);
  if (Buffer.byteLength(name) + wireValue.length > MAX_COOKIE_BYTES) throw invalid(`The cookie ${name} is too large`);
  const expires = expiryOf(attributes);
  const sameSite = sameSiteOf(attributes.get('samesite'));
  const path = attributes.get('path') ?? '';
  const cookie: Cookie = {
    name,
    value: decodeValue(given),
    wireValue,
    ...scopeOf(name, attributes.get('domain') ?? '', target),
    path: path.startsWith('/') ? path : '/',
    ...(expires !== undefined && { expires }),
    secure: attributes.has('secure'),
    httpOnly: attributes.has('httponly'),
    ...(sameSite && { sameSite }),
  };
  checkAttributes(cookie, attributes.has('domain'));
  return cookie;
}

/** Names in lower case; the last of several duplicates is used (RFC 6265, section 5.2). */
const parseAttributes = (texts: readonly string[]) =>
  new Map(
    texts.map((text) => {
      const cut = text.indexOf('=');
      return cut < 0
        ? [text.trim().toLowerCase(), '']
        : [text.slice(0, cut).trim().toLowerCase(), text.slice(cut + 1).trim()];
    }),
  );

function scopeOf(name: string, given: string, target: URL): Pick<Cookie, 'domain' | 'hostOnly'> {
  const host = bareHost(target.hostname);
  const domain = bareHost(domainToASCII(given.replace(/^\./, '')) || given.replace(/^\./, ''));
  if (!domain) return { domain: host, hostOnly: true };
  const isLiteral = /^[\d.]+$|:/.test(host);
  const fits = domain === host || (!isLiteral && host.endsWith(`.${domain}`));
  if (!fits) throw invalid(`The domain of the cookie ${name} does not match the target`);
  // If the target's host is a public suffix, cookies are allowed, but only for this exact host.
  const isShared = !isLiteral && getPublicSuffix(domain, { allowPrivateDomains: true }) === domain;
  if (isShared && domain !== host) throw invalid(`The domain of the cookie ${name} is a public suffix`);
  return { domain, hostOnly: isLiteral || isShared };
}

const bareHost = (hostname: string) =>
  hostname
    .toLowerCase()
    .replace(/^\[|\]$/g, '')
    .replace(/\.$/, '');

/** Max-Age overrides Expires. Invalid values are ignored. */
function expiryOf(attributes: ReadonlyMap<string, string>): number | undefined {
  const maxAge = attributes.get('max-age');
  if (maxAge !== undefined && /^-?\d+$/.test(maxAge)) {
    const seconds = Number(maxAge);
    // Browsers limit the lifetime of cookies to 400 days.
    return seconds <= 0 ? 0 : Date.now() + Math.min(seconds, 400 * 86_400) * 1_000;
  }
  return parseDate(attributes.get('expires') ?? '')?.getTime();
}

const SAME_SITE = { strict: 'Strict', lax: 'Lax', none: 'None' } as const;
const sameSiteOf = (text: string | undefined) => ownValue(SAME_SITE, text?.toLowerCase() ?? '');

/** Enforces cookie name prefixes and SameSite=None as browsers do (RFC 6265bis, section 5.7). */
function checkAttributes({ name, secure, sameSite, path }: Cookie, hasDomain: boolean) {
  if (sameSite === 'None' && !secure) throw invalid(`The cookie ${name} has SameSite=None, which needs Secure`);
  const prefix = /^__(secure|host)-/i.exec(name)?.[1]?.toLowerCase();
  if (prefix && !secure) throw invalid(`The cookie ${name} needs Secure`);
  if (prefix === 'host' && (hasDomain || path !== '/'))
    throw invalid(`The cookie ${name} must have no Domain and the path /`);
}

function decodeValue(given: string): string {
  try {
    return decodeURIComponent(given);
  } catch {
    return given;
  }
}

/** Percent signs are not encoded, so that values that are already encoded are sent unchanged. */
const encodeValue = (given: string) =>
  given.replace(/\p{Surrogate}/gu, '\ufffd').replace(/[^\x21-\x7e]+/g, encodeURIComponent);

/** Creates a cookie jar with these cookies, for one request and its redirects. */
export function toJar(cookies: readonly Cookie[]): CookieJar {
  const store = new MemoryCookieStore();
  const jar = new CookieJar(store, { looseMode: true, rejectPublicSuffixes: true });
  for (const cookie of cookies) {
    // Bypasses the checks of the jar, which are intended for cookies sent by servers. parseSetCookies has already
    // checked these cookies.
    store.putCookie(
      new StoredCookie({
        key: cookie.name,
        value: cookie.wireValue,
        domain: cookie.domain,
        hostOnly: cookie.hostOnly,
        path: cookie.path,
        secure: cookie.secure,
        httpOnly: cookie.httpOnly,
        expires: cookie.expires === undefined ? 'Infinity' : new Date(cookie.expires),
        sameSite: cookie.sameSite?.toLowerCase(),
        creation: new Date(),
      }),
      () => {},
    );
  }
  return jar;
}

/** Converts the cookies for a browser context, where a leading dot in the domain includes subdomains. */
export const toBrowserCookies = (cookies: readonly Cookie[]): BrowserCookie[] =>
  cookies.map(({ name, wireValue, domain, hostOnly, path, expires, httpOnly, secure, sameSite }) => ({
    name,
    value: wireValue,
    domain: hostOnly ? domain : `.${domain}`,
    path,
    ...(expires !== undefined && { expires: Math.floor(expires / 1_000) }),
    httpOnly,
    secure,
    ...(sameSite && { sameSite }),
  }));
