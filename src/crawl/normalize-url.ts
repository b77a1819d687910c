/** Normalizes URLs for a crawl, and decides which URLs lead to the same page. */
import { createHash } from 'node:crypto';
import { isSessionParameter, isTrackingParameter } from '#net/tracking-parameters.ts';
import { cleanUrl } from '#reader/index.ts';

export interface NormalizedUrl {
  /** The URL to request. */
  readonly url: string;
  /** A key that is equal for URLs of the same page, as far as the URLs themselves reveal this. */
  readonly key: string;
  /** The host in lower case, with its port. */
  readonly host: string;
}

/** Maximum length of a URL that is followed, in characters. Longer URLs are usually generated. */
export const MAX_URL = 2_000;

const SESSION_IN_PATH = /;jsessionid=[\w.!-]+/i;
/**
 * Index files of a folder. Other names (`default.aspx`, `home.html`) often lead to a different page than the folder.
 */
const INDEX = /\/index\.(?:html?|php)$/i;

/** Returns `undefined` if the text is not an http(s) URL, or is longer than MAX_URL. */
export function normalizeUrl(text: string): NormalizedUrl | undefined {
  if (text.length > MAX_URL) return undefined;
  let url: URL;
  try {
    url = new URL(cleanUrl(text));
  } catch {
    return undefined;
  }
  if (!/^#!?\//.test(url.hash)) url.hash = '';
  if (SESSION_IN_PATH.test(url.pathname)) url.pathname = url.pathname.replace(SESSION_IN_PATH, '');
  const pairs = queryPairs(url.search).filter((pair) => !isVisitorParameter(parameterName(pair)));
  url.search = pairs.join('&');
  return { url: url.href, key: keyOf(url, pairs), host: url.host };
}

const isVisitorParameter = (name: string) => isTrackingParameter(name) || isSessionParameter(name);

/** Splits a query into its `name=value` pairs, without decoding them. */
export const queryPairs = (search: string): string[] => search.replace(/^\?/, '').split('&').filter(Boolean);
export const parameterName = (pair: string): string => pair.split('=', 1)[0]!;

/**
 * The key is a hash, because databases do not index long texts. It ignores the scheme, the order of parameters, and the
 * index file of a folder in a URL without parameters.
 */
function keyOf({ host, pathname, hash }: URL, parameters: readonly string[]): string {
  const path = parameters.length ? pathname : pathname.replace(INDEX, '/');
  const identity = [host, path, [...parameters].sort().join('&'), hash].join('\n');
  return createHash('sha256').update(identity).digest('base64url').slice(0, KEY_LENGTH);
}

/** 132 bits. */
const KEY_LENGTH = 22;
