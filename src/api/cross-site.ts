/**
 * Web pages in somebody's browser that ask this server for more than they could see themselves. Where private networks
 * may be read, any page that a person opens could otherwise read them through a server on that person's machine, since
 * callers need no key and every origin may read the answers.
 */
import type { IncomingHttpHeaders } from 'node:http';
import type { FastifyRequest } from 'fastify';
import { problem } from '#errors.ts';
import { parseAddress } from '#net/guard/ip-address.ts';

/** Where a page of our own, the playground, may come from: it asks hosts beside its own. */
export interface OwnOrigins {
  /** The origin under which the reader is published. */
  readonly publicOrigin?: string | undefined;
  /** Ports at which the reader answers. */
  readonly ports: () => readonly number[];
}

/** Refuses (OperationNotAllowedError) what a page of another site sent. */
export function refuseCrossSite(
  { headers }: FastifyRequest,
  ownHosts: readonly string[],
  ownPages?: OwnOrigins | undefined,
): void {
  if (!isCrossSite(headers, ownHosts) || (ownPages && isOwnPage(headers, ownHosts, ownPages))) return;
  throw problem('OperationNotAllowedError', {
    message: 'This server reads private networks, so web pages of other sites need an API key to ask it',
  });
}

/**
 * Whether a page of another site sent it: by the browser's own word (Fetch Metadata, W3C), by its Origin, or by a host
 * name that is not ours, as when a site's name was made to point here (DNS rebinding).
 */
export function isCrossSite(headers: IncomingHttpHeaders, ownHosts: readonly string[]): boolean {
  const { origin, host = '' } = headers;
  const site = headers['sec-fetch-site'];
  const typed = headers['sec-fetch-mode'] === 'navigate' && headers['sec-fetch-dest'] === 'document';
  return (
    (site !== undefined && site !== 'same-origin' && site !== 'none' && !typed) ||
    (origin !== undefined && hostOf(origin) !== host.toLowerCase()) ||
    (maybeBrowser(headers) && !isOwn(host, ownHosts))
  );
}

/**
 * Whether a page of the reader's origin sent it. That origin serves no script but our own; a page of another site can
 * have the name of this machine in its own origin only where the name is not one of ours, and another program of this
 * machine has another port.
 */
function isOwnPage(
  { origin, host = '' }: IncomingHttpHeaders,
  ownHosts: readonly string[],
  pages: OwnOrigins,
): boolean {
  if (origin === undefined) return false;
  if (origin === pages.publicOrigin) return true;
  if (!URL.canParse(origin)) return false;
  const { hostname, port, protocol } = new URL(origin);
  const number = Number(port || (protocol === 'https:' ? 443 : 80));
  const name = hostname.replace(/^\[|\]$/g, '');
  // One port for all faces: `r.` beside `s.`.
  const beside = name.startsWith('r.') && nameOf(host) === name.replace(/^r\./, 's.');
  return (nameOf(host) === name || beside) && isOwn(host, ownHosts) && pages.ports().includes(number);
}

/**
 * A script may write another User-Agent (Firefox lets it), but it cannot leave Accept-Language out. The fetch of Node sends
 * that too, and tells itself by Sec-Fetch-Mode, which no script may write and browsers send with Sec-Fetch-Site only.
 */
const maybeBrowser = (headers: IncomingHttpHeaders): boolean =>
  headers['user-agent']?.startsWith('Mozilla/') ||
  (headers['accept-language'] !== undefined && headers['sec-fetch-mode'] === undefined);

function isOwn(host: string, ownHosts: readonly string[]): boolean {
  const name = nameOf(host);
  return (
    parseAddress(name) !== undefined ||
    // Of one label, as in a local network: nobody outside can make it point here.
    (name !== '' && !name.includes('.')) ||
    name.endsWith('.localhost') ||
    ownHosts.includes(name)
  );
}

/** `name` of `name:port`, without brackets. */
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
