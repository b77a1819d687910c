/** The scope of a crawl: decides from the start URLs which URLs belong to the crawl. */
import { getDomain } from 'tldts';

export const SCOPES = ['path', 'host', 'domain'] as const;
export type Scope = (typeof SCOPES)[number];

/** Whether a URL is within the scope around one of the starts. `http` and `https` count as equal. */
export function isWithin(url: URL, starts: readonly URL[], scope: Scope): boolean {
  return starts.some((start) => {
    if (scope === 'domain') return domainOf(url) === domainOf(start);
    return url.host === start.host && (scope === 'host' || url.pathname.startsWith(folderOf(start)));
  });
}

/** The path up to its last slash: the folder of `/docs/intro` is `/docs/`, and so is that of `/docs/`. */
const folderOf = ({ pathname }: URL): string => pathname.slice(0, pathname.lastIndexOf('/') + 1);

/**
 * The registrable domain. Sites under a shared domain (`name.github.io`) have domains of their own. For a host without
 * a registrable domain, such as an IP address, it is the host with its port.
 */
export const domainOf = ({ hostname, host }: URL): string =>
  getDomain(hostname, { allowPrivateDomains: true })?.toLowerCase() ?? host;
