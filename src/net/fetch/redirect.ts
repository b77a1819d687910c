/** Builds the next request of a redirect chain (Fetch standard, "HTTP-redirect fetch"). */
import { problem } from '#errors.ts';
import { isUrl } from '#is-url.ts';
import { isHttp, notHttp } from '../guard/guard.ts';
import { REDIRECT_STATUSES } from './response-head.ts';

/** Maximum number of redirects of one request, for every engine. */
export const MAX_REDIRECTS = 10;

export const tooManyRedirects = (targetStatus?: number) =>
  problem('AssertionFailureError', {
    ...(targetStatus !== undefined && { targetStatus }),
    message: 'The target redirects too many times',
  });

export const invalidRedirect = (targetStatus?: number) =>
  problem('AssertionFailureError', {
    ...(targetStatus !== undefined && { targetStatus }),
    message: 'The target redirects to an invalid URL',
  });

export interface Hop {
  readonly url: URL;
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Uint8Array | undefined;
}

/** Headers without credentials or identity. Only these are sent to another site after a redirect. */
const SAFE_HEADERS = new Set([
  'accept',
  'accept-encoding',
  'accept-language',
  'dnt',
  'referer',
  'upgrade-insecure-requests',
  'user-agent',
]);
const isSafe = (name: string) => SAFE_HEADERS.has(name) || name.startsWith('sec-');

/** Returns the next hop, or undefined if the response is not a redirect. Throws if its Location is invalid. */
export function nextHop(hop: Hop, status: number, header: string | undefined): Hop | undefined {
  if (!REDIRECT_STATUSES.has(status) || !header) return undefined;
  const location = utf8Of(header);
  if (!isUrl(location, hop.url.href)) throw invalidRedirect(status);
  const url = new URL(location, hop.url);
  if (!isHttp(url)) throw notHttp({ targetStatus: status });
  url.username = '';
  url.password = '';
  if (!url.hash) url.hash = hop.url.hash;
  const becomesGet = status === 303 ? hop.method !== 'HEAD' : status < 303 && hop.method === 'POST';
  const headers = headersForRedirect(hop.url, url, hop.headers);
  return {
    url,
    method: becomesGet ? 'GET' : hop.method,
    headers: becomesGet ? without(headers, (name) => name.startsWith('content-')) : headers,
    body: becomesGet ? undefined : hop.body,
  };
}

/** Selects the request headers that may be sent to the target of a redirect. */
export const headersForRedirect = (
  from: URL,
  to: URL,
  headers: Readonly<Record<string, string>>,
): Record<string, string> =>
  without(
    headers,
    (name) =>
      !(isSameSite(from, to) || isSafe(name)) ||
      (name === 'referer' && from.protocol === 'https:' && to.protocol === 'http:'),
  );

const without = (headers: Readonly<Record<string, string>>, isRemoved: (name: string) => boolean) =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => !isRemoved(name.toLowerCase())));

/** Node decodes headers as Latin-1. This decodes them again as UTF-8 if they are valid UTF-8. */
export function utf8Of(header: string): string {
  const text = Buffer.from(header, 'latin1').toString('utf8');
  return text.includes('\ufffd') ? header : text;
}

/**
 * Whether credentials are still sent after a redirect: to the same origin, and after an upgrade of the same host from
 * http to https on default ports.
 */
const isSameSite = (from: URL, to: URL) =>
  from.origin === to.origin ||
  (from.hostname === to.hostname && from.protocol === 'http:' && to.protocol === 'https:' && !from.port && !to.port);
