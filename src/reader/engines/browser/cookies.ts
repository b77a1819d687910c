/** Transfers cookies between the caller, the previous engine, the browser, and the next engine. */
import type { BrowserContext } from 'playwright-core';
import { problem } from '#errors.ts';
import { type BrowserCookie, type Cookie, type CookieJar, toBrowserCookies, toJar } from '#net/fetch/cookies.ts';
import { ownValue } from '#own-value.ts';

/** Throws ParamValidationError with `path` set to `cookies` if the browser refuses one. */
export async function setCallersCookies(context: BrowserContext, cookies: readonly Cookie[]): Promise<void> {
  if (!cookies.length) return;
  try {
    await context.addCookies(toBrowserCookies(cookies));
  } catch (error) {
    throw problem('ParamValidationError', { path: 'cookies', message: 'The browser refuses these cookies' }, error);
  }
}

/** Sets the cookies received by the previous engine; those that the browser refuses are dropped. */
export async function setEarlierCookies(context: BrowserContext, jar: CookieJar): Promise<void> {
  const cookies = cookiesOf(jar);
  if (!cookies.length) return;
  await context.addCookies(cookies).catch(async () => {
    for (const cookie of cookies) await context.addCookies([cookie]).catch(() => {});
  });
}

function cookiesOf(jar: CookieJar): BrowserCookie[] {
  return (jar.serializeSync()?.cookies ?? []).flatMap((cookie) => {
    const { key, value, domain, path, hostOnly, secure, httpOnly, sameSite } = cookie;
    if (typeof key !== 'string' || typeof domain !== 'string') return [];
    const expires = expiryOf(cookie);
    if (expires !== undefined && expires * 1_000 <= Date.now()) return [];
    return {
      name: key,
      value: String(value ?? ''),
      domain: hostOnly ? domain : `.${domain}`,
      path: typeof path === 'string' ? path : '/',
      ...(expires !== undefined && { expires }),
      secure: secure === true,
      httpOnly: httpOnly === true,
      sameSite: ownValue(SAME_SITES, String(sameSite)),
    };
  });
}

const SAME_SITES: Readonly<Record<string, BrowserCookie['sameSite']>> = { strict: 'Strict', lax: 'Lax', none: 'None' };

/** Seconds since 1970; Max-Age takes precedence over Expires. `undefined` for session cookies. */
function expiryOf({ maxAge, creation, expires }: Record<string, unknown>): number | undefined {
  if (typeof maxAge === 'number') return Math.floor(Date.parse(String(creation)) / 1_000) + maxAge;
  const at = typeof expires === 'string' && expires !== 'Infinity' ? Date.parse(expires) : Number.NaN;
  return Number.isNaN(at) ? undefined : Math.floor(at / 1_000);
}

/** A jar with the cookies of a context, for the engine that continues the read. */
export async function readCookieJar(context: BrowserContext): Promise<CookieJar> {
  const cookies = await context.cookies();
  return toJar(
    cookies.map(({ name, value, domain, path, expires, secure, httpOnly, sameSite }) => ({
      name,
      value,
      wireValue: value,
      domain: domain.replace(/^\./, ''),
      hostOnly: !domain.startsWith('.'),
      path,
      ...(expires >= 0 && { expires: expires * 1_000 }),
      secure,
      httpOnly,
      sameSite,
    })),
  );
}

/** The pairs of a Cookie header, as cookies for the target's host only. */
export function parseCookieHeader(header: string, target: URL): Cookie[] {
  return header.split(';').flatMap((part) => {
    const cut = part.indexOf('=');
    const name = part.slice(0, Math.max(cut, 0)).trim();
    const value = part.slice(cut + 1).trim();
    const domain = target.hostname.replace(/^\[|\]$/g, '');
    return name
      ? [{ name, value, wireValue: value, domain, hostOnly: true, path: '/', secure: false, httpOnly: false }]
      : [];
  });
}
