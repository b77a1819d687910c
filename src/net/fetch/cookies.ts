/**
 * Cookies that a caller sends along to a target (option `setCookies`, contract section 12): Set-Cookie syntax, bound to
 * the target unless a Domain says more, for one request only.
 */
import { domainToASCII } from 'node:url';
import { getPublicSuffix } from 'tldts';
import { CookieJar, MemoryCookieStore, parseDate, Cookie as StoredCookie } from 'tough-cookie';
import { problem } from '#errors.ts';
import { own } from '#own.ts';

export { CookieJar } from 'tough-cookie';

export interface Cookie {
  readonly name: string;
  /** Percent-decoded. */
  readonly value: string;
  /** As it goes over the wire: as it was given, with what a header cannot carry percent-encoded. */
  readonly wireValue: string;
  /** The target's host (a literal without brackets), or the Domain without its leading dot. */
  readonly domain: string;
  /** Whether the cookie is for this very host, not for those below it. */
  readonly hostOnly: boolean;
  /** `/` unless given: a cookie for the target is meant for wherever the target redirects on its host. */
  readonly path: string;
  /** Milliseconds since 1970. Without it the cookie lasts as long as the read. */
  readonly expires?: number;
  readonly secure: boolean;
  readonly httpOnly: boolean;
  readonly sameSite?: 'Strict' | 'Lax' | 'None';
}

/** One cookie as `addCookies` of a browser context takes it; `expires` in seconds. */
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

/** Browsers refuse a cookie whose name and value take more. */
const MAX_COOKIE_BYTES = 4_096;
const MAX_COOKIES = 180;

/**
 * The cookies of the option `setCookies` for a target, without those that have expired. A later cookie of the same name,
 * domain and path replaces an earlier one. ParamValidationError, path `cookies`: one of them is none, or one that a
 * browser would refuse.
 */
export function parseSetCookies(input: string | readonly string[], targetUrl: string | URL): Cookie[] {
  const target = new URL(targetUrl);
  const texts = (typeof input === 'string' ? [input] : input).flatMap(splitCookies);
  if (texts.length > MAX_COOKIES) throw invalid(`There are more than ${MAX_COOKIES} cookies`);
  const cookies = new Map<string, Cookie>();
  for (const text of texts) {
    const cookie = parseCookie(text, target);
    const key = JSON.stringify([cookie.name, cookie.domain, cookie.path]);
    cookies.delete(key);
    if (cookie.expires === undefined || cookie.expires > Date.now()) cookies.set(key, cookie);
  }
  return [...cookies.values()];
}

/** A comma parts two cookies only when a name and `=` follow: dates and values have commas too. */
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
  if (/[\x00-\x08\x0a-\x1f\x7f]/.test(given)) throw invalid(`The value of the cookie ${name} has control characters`);
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
  checkPromises(cookie, attributes.has('domain'));
  return cookie;
}

/** Names in lower case; the last of several counts (RFC 6265, section 5.2). */
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
  if (!fits) throw invalid(`The domain of the cookie ${name} does not fit the target`);
  // Only the host that is a public suffix itself may have a cookie there, for itself alone.
  const isShared = !isLiteral && getPublicSuffix(domain, { allowPrivateDomains: true }) === domain;
  if (isShared && domain !== host) throw invalid(`The domain of the cookie ${name} is one that many sites share`);
  return { domain, hostOnly: isLiteral || isShared };
}

const bareHost = (hostname: string) =>
  hostname
    .toLowerCase()
    .replace(/^\[|\]$/g, '')
    .replace(/\.$/, '');

/** Max-Age wins over Expires; what cannot be read is as if it were not there. */
function expiryOf(attributes: ReadonlyMap<string, string>): number | undefined {
  const maxAge = attributes.get('max-age');
  if (maxAge !== undefined && /^-?\d+$/.test(maxAge)) {
    const seconds = Number(maxAge);
    // Browsers keep no cookie for longer than 400 days.
    return seconds <= 0 ? 0 : Date.now() + Math.min(seconds, 400 * 86_400) * 1_000;
  }
  return parseDate(attributes.get('expires') ?? '')?.getTime();
}

const SAME_SITE = { strict: 'Strict', lax: 'Lax', none: 'None' } as const;
const sameSiteOf = (text: string | undefined) => own(SAME_SITE, text?.toLowerCase() ?? '');

/** A browser refuses cookies that break what their own name or attributes promise (RFC 6265bis, section 5.7). */
function checkPromises({ name, secure, sameSite, path }: Cookie, hasDomain: boolean) {
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

/** Percent signs stay: what was written encoded is sent as it was written. */
const encodeValue = (given: string) =>
  given.replace(/\p{Surrogate}/gu, '\ufffd').replace(/[^\x21-\x7e]+/g, encodeURIComponent);

/** A jar with these cookies and nothing else, for one request and its redirects. */
export function toJar(cookies: readonly Cookie[]): CookieJar {
  const store = new MemoryCookieStore();
  const jar = new CookieJar(store, { looseMode: true, rejectPublicSuffixes: true });
  for (const cookie of cookies) {
    // Past the jar's own rules, which are about what a server may set: these were held against ours.
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

/** The same cookies for a browser context: a leading dot there means the hosts below as well. */
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
