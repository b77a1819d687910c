/** What the next request is when an answer points elsewhere (Fetch standard, "HTTP-redirect fetch"). */
import { problem } from '#errors.ts';
import { isHttp, notHttp } from '../guard/guard.ts';
import { REDIRECT_STATUSES } from './response-head.ts';

/** Of one read, by whatever way out. */
export const MAX_REDIRECTS = 10;

export const tooManyRedirects = (targetStatus?: number) =>
  problem('AssertionFailureError', {
    ...(targetStatus !== undefined && { targetStatus }),
    message: 'The target redirects too often',
  });

export const invalidRedirect = (targetStatus?: number) =>
  problem('AssertionFailureError', {
    ...(targetStatus !== undefined && { targetStatus }),
    message: 'The target redirects to an address that is not valid',
  });

export interface Hop {
  readonly url: URL;
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Uint8Array | undefined;
}

/** Headers that say how to answer rather than who asks: all that another site gets to see. */
const IMPERSONAL = new Set([
  'accept',
  'accept-encoding',
  'accept-language',
  'dnt',
  'referer',
  'upgrade-insecure-requests',
  'user-agent',
]);
const isImpersonal = (name: string) => IMPERSONAL.has(name) || name.startsWith('sec-');

/** The hop after this one, or undefined when the answer is none that redirects. */
export function nextHop(hop: Hop, status: number, header: string | undefined): Hop | undefined {
  if (!REDIRECT_STATUSES.has(status) || !header) return undefined;
  const location = utf8Of(header);
  if (!URL.canParse(location, hop.url.href)) throw invalidRedirect(status);
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

/** What of a request's headers another address may see that the first one leads to. */
export const headersForRedirect = (
  from: URL,
  to: URL,
  headers: Readonly<Record<string, string>>,
): Record<string, string> =>
  without(
    headers,
    (name) =>
      !(isSameSite(from, to) || isImpersonal(name)) ||
      (name === 'referer' && from.protocol === 'https:' && to.protocol === 'http:'),
  );

const without = (headers: Readonly<Record<string, string>>, isLeft: (name: string) => boolean) =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => !isLeft(name.toLowerCase())));

/** Header bytes come a byte a letter; servers that send other letters unescaped mean UTF-8. */
export function utf8Of(header: string): string {
  const text = Buffer.from(header, 'latin1').toString('utf8');
  return text.includes('\ufffd') ? header : text;
}

/** The same origin, or the same host going over to https on the usual ports: what it was told before it may be told again. */
const isSameSite = (from: URL, to: URL) =>
  from.origin === to.origin ||
  (from.hostname === to.hostname && from.protocol === 'http:' && to.protocol === 'https:' && !from.port && !to.port);
