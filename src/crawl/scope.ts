/** The scope of a crawl: uses the start URLs to decide which URLs belong to the crawl. */
import { getDomain } from 'tldts';

export const SCOPES = ['path', 'host', 'domain'] as const;
export type Scope = (typeof SCOPES)[number];

/** Whether a URL is within the scope of at least one start URL. `http` and `https` are treated as equal. */
export function isWithin(url: URL, starts: readonly URL[], scope: Scope): boolean {
  return starts.some((start) => {
    if (scope === 'domain') return domainOf(url) === domainOf(start);
    return url.host === start.host && (scope === 'host' || url.pathname.startsWith(folderOf(start)));
  });
}

/** The path up to its last slash: the folder of both `/docs/intro` and `/docs/` is `/docs/`. */
const folderOf = ({ pathname }: URL): string => pathname.slice(0, pathname.lastIndexOf('/') + 1);

/**
 * Returns the registrable domain. Sites under a shared domain (`name.github.io`) have their own domains. For a host
 * without a registrable domain, such as an IP address, returns the host with its port.
 */
export const domainOf = ({ hostname, host }: URL): string =>
  getDomain(hostname, { allowPrivateDomains: true })?.toLowerCase() ?? host;
