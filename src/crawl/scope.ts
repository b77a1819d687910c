/** How far a crawl goes: the part of the web that it was asked for, by where it starts. */
import { getDomain } from 'tldts';

export const SCOPES = ['path', 'host', 'domain'] as const;
export type Scope = (typeof SCOPES)[number];

/** Whether an address lies within the scope around one of the starts. A scheme makes no difference. */
export function isWithin(url: URL, starts: readonly URL[], scope: Scope): boolean {
  return starts.some((start) => {
    if (scope === 'domain') return domainOf(url) === domainOf(start);
    return url.host === start.host && (scope === 'host' || url.pathname.startsWith(folderOf(start)));
  });
}

/** The path up to its last slash: the folder of `/docs/intro` is `/docs/`, and so is that of `/docs/`. */
const folderOf = ({ pathname }: URL): string => pathname.slice(0, pathname.lastIndexOf('/') + 1);

/**
 * The registrable domain, with sites of people on the domain of a host of many (`name.github.io`) apart from each other;
 * the host itself where there is none, as for addresses.
 */
export const domainOf = ({ hostname, host }: URL): string =>
  getDomain(hostname, { allowPrivateDomains: true })?.toLowerCase() ?? host;
