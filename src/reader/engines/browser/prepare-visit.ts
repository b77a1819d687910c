/**
 * Validates everything about a visit that can be checked without a browser, that is, all options that may be invalid.
 */
import { Problem, problem } from '#errors.ts';
import { isUrl } from '#is-url.ts';
import { type Cookie, parseSetCookies } from '#net/fetch/cookies.ts';
import { checkCustomHeaders } from '#net/fetch/custom-headers.ts';
import { type Guard, portOf } from '#net/guard/guard.ts';
import { parseProxyUrl } from '#net/proxy/proxy-table.ts';
import type { StorageState } from '../../snapshot.ts';
import { cleanUrl } from '../../target.ts';
import type { Visit } from '../engine.ts';
import { parseCookieHeader } from './cookies.ts';
import { parseStorageState } from './storage-state.ts';

export interface Preparation {
  readonly cookies: readonly Cookie[];
  readonly headers: Readonly<Record<string, string>>;
  readonly storageState: StorageState | undefined;
  /** The proxy of this visit; `undefined` for a direct connection. */
  readonly proxy: URL | undefined;
  /** Whether images, fonts and styles use the proxy too. */
  readonly proxyResources: boolean;
  readonly preloadUrl: string | undefined;
  /** Whether the page's clock must run in real time. */
  readonly realTime: boolean;
}

/** Submitted HTML without a URL still needs an origin, so it gets one that can never exist. */
export const PLACEHOLDER_URL = 'https://document.invalid/';

export const isWebUrl = (address: string): boolean => /^https?:/i.test(address) && isUrl(address);

/** Throws ParamValidationError or SecurityCompromiseError with the invalid option as path. */
export async function prepareVisit(visit: Visit, guard: Guard): Promise<Preparation> {
  const { options, url, signal } = visit;
  const entry = new URL(isWebUrl(url) ? url : PLACEHOLDER_URL);
  const { cookie, ...headers } = checkCustomHeaders(options.customHeader);
  const given = options.proxyUrl === undefined ? undefined : parseProxyUrl(options.proxyUrl);
  return {
    cookies: [
      ...parseSetCookies(options.setCookies, entry),
      ...(cookie === undefined ? [] : parseCookieHeader(cookie, entry)),
    ],
    headers,
    storageState: options.storageState === undefined ? undefined : parseStorageState(options.storageState),
    proxy: given ?? visit.proxy,
    proxyResources: given !== undefined || options.proxyResources === true,
    preloadUrl: options.preloadUrl === undefined ? undefined : await checkPreloadUrl(options.preloadUrl, guard, signal),
    realTime: false,
  };
}

async function checkPreloadUrl(typed: string, guard: Guard, signal: AbortSignal): Promise<string> {
  try {
    const url = new URL(cleanUrl(typed));
    guard.checkUrl(url);
    await guard.resolve(url.hostname, portOf(url), signal);
    return url.href;
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    throw problem(error.name, { ...error.facts, path: 'preloadUrl', message: error.message }, error);
  }
}
