/**
 * Detects and refuses requests sent by web pages of other sites. A server on a user's machine may be able to read
 * private networks. Without this check, any web page that the user opens could read them through the server, because
 * callers need no key and CORS allows all origins.
 */
import type { IncomingHttpHeaders } from 'node:http';
import type { FastifyRequest } from 'fastify';
import { problem } from '#errors.ts';
import { isUrl } from '#is-url.ts';
import { parseAddress } from '#net/guard/ip-address.ts';

/** Origins of the playground, which sends requests to the other hosts of this server. */
export interface OwnOrigins {
  /** The public origin of the reader, if configured. */
  readonly publicOrigin?: string | undefined;
  /** The ports of the reader. */
  readonly ports: () => readonly number[];
}

/** Throws AbuseAlleviationError if a web page of another site sent the request. */
export function refuseCrossSite(
  { headers }: FastifyRequest,
  ownHosts: readonly string[],
  ownPages?: OwnOrigins | undefined,
): void {
  if (!isCrossSite(headers, ownHosts) || (ownPages && isOwnPage(headers, ownHosts, ownPages))) return;
  throw problem('AbuseAlleviationError', {
    message: 'This server can read private networks, so requests from web pages of other sites need an API key',
  });
}

/**
 * Whether a web page of another site sent the request. Checks Fetch Metadata (W3C), the Origin header, and whether the
 * Host header names this server (it does not in DNS rebinding).
 */
export function isCrossSite(headers: IncomingHttpHeaders, ownHosts: readonly string[]): boolean {
  const { origin, host = '' } = headers;
  const site = headers['sec-fetch-site'];
  const isNavigation = headers['sec-fetch-mode'] === 'navigate' && headers['sec-fetch-dest'] === 'document';
  return (
    (site !== undefined && site !== 'same-origin' && site !== 'none' && !isNavigation) ||
    (origin !== undefined && hostOf(origin) !== host.toLowerCase()) ||
    (maybeBrowser(headers) && !isOwn(host, ownHosts))
  );
}

/**
 * Whether a web page of the reader's origin sent the request. That origin serves only scripts of this server. Pages of
 * other sites have a different host name. Pages of other programs on this machine have a different port.
 */
export function isOwnPage(
  { origin, host = '' }: IncomingHttpHeaders,
  ownHosts: readonly string[],
  pages: OwnOrigins,
): boolean {
  if (origin === undefined) return false;
  if (origin === pages.publicOrigin) return true;
  if (!isUrl(origin)) return false;
  const { hostname, port, protocol } = new URL(origin);
  const number = Number(port || (protocol === 'https:' ? 443 : 80));
  const name = hostname.replace(/^\[|\]$/g, '');
  // If all APIs share one port, the reader is at `r.` and search at `s.`.
  const isSibling = name.startsWith('r.') && nameOf(host) === name.replace(/^r\./, 's.');
  return (nameOf(host) === name || isSibling) && isOwn(host, ownHosts) && pages.ports().includes(number);
}

/**
 * Whether a browser may have sent the request. A script can change the User-Agent (in Firefox), but it cannot remove
 * Accept-Language. Node's fetch sends Accept-Language too, but it sends Sec-Fetch-Mode without Sec-Fetch-Site, which no
 * browser does and no script can set.
 */
const maybeBrowser = (headers: IncomingHttpHeaders): boolean =>
  headers['user-agent']?.startsWith('Mozilla/') ||
  (headers['accept-language'] !== undefined && headers['sec-fetch-mode'] === undefined);

function isOwn(host: string, ownHosts: readonly string[]): boolean {
  const name = nameOf(host);
  return (
    parseAddress(name) !== undefined ||
    // Public DNS cannot resolve a single-label name, as used in local networks, to this server.
    (name !== '' && !name.includes('.')) ||
    name.endsWith('.localhost') ||
    ownHosts.includes(name)
  );
}

/** The name in `name:port`, without the brackets of an IPv6 address. */
const nameOf = (host: string) =>
  host
    .toLowerCase()
    .replace(/:\d*$/, '')
    .replace(/^\[|\]$/g, '');

function hostOf(origin: string): string | undefined {
  try {
    return new URL(origin).host;
  } catch {
    return undefined;
  }
}
