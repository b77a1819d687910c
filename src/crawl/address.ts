/** Addresses of a crawl: as they are read, and by what two of them are told to be one page. */
import { createHash } from 'node:crypto';
import { cleanUrl } from '#reader/index.ts';

export interface Address {
  /** As it is asked for. */
  readonly url: string;
  /** The same for addresses that are one page by all that addresses tell. */
  readonly key: string;
  /** With its port, in lower case. */
  readonly host: string;
}

/** Longer ones are made by machines, for machines. */
export const MAX_URL = 2_000;

/**
 * Parameters that tell where a visitor came from, or who it is, and nothing of the page; `utm_…` are gone already.
 * Session names are those of PHP, ASP, ColdFusion and servlets.
 */
const TRACKING =
  /^(?:fbclid|gclid|dclid|gbraid|wbraid|msclkid|yclid|twclid|ttclid|igshid|mc_cid|mc_eid|_ga|_gl|_hsenc|_hsmi|mkt_tok|oly_anon_id|oly_enc_id|vero_id|wickedid|phpsessid|jsessionid|aspsessionid\w*|cfid|cftoken|sessionid)$/i;
const SESSION_IN_PATH = /;jsessionid=[\w.!-]+/i;
/** Names under which servers keep the page of a folder; others (`default.aspx`, `home.html`) are as often pages of their own. */
const INDEX = /\/index\.(?:html?|php)$/i;

/** Undefined for what is no http(s) address, or one too long to be one. */
export function addressOf(text: string): Address | undefined {
  if (text.length > MAX_URL) return undefined;
  let url: URL;
  try {
    url = new URL(cleanUrl(text));
  } catch {
    return undefined;
  }
  if (!/^#!?\//.test(url.hash)) url.hash = '';
  if (SESSION_IN_PATH.test(url.pathname)) url.pathname = url.pathname.replace(SESSION_IN_PATH, '');
  const kept = parametersOf(url.search).filter((pair) => !TRACKING.test(nameOf(pair)));
  url.search = kept.join('&');
  return { url: url.href, key: keyOf(url, kept), host: url.host };
}

/** The pairs of a query as they were written. */
export const parametersOf = (search: string): string[] => search.replace(/^\?/, '').split('&').filter(Boolean);
export const nameOf = (pair: string): string => pair.split('=', 1)[0]!;

/**
 * A hash: databases index no long texts. The scheme is no part of it, nor the order of parameters, nor the name of a
 * folder's index where nothing is asked of it.
 */
function keyOf({ host, pathname, hash }: URL, parameters: readonly string[]): string {
  const path = parameters.length ? pathname : pathname.replace(INDEX, '/');
  const identity = [host, path, [...parameters].sort().join('&'), hash].join('\n');
  return createHash('sha256').update(identity).digest('base64url').slice(0, KEY_LENGTH);
}

/** 132 bits. */
const KEY_LENGTH = 22;
