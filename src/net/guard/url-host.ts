/** Host and port of a URL in a normalized form. */

export const portOf = (url: URL): number => (url.port ? Number(url.port) : url.protocol === 'https:' ? 443 : 80);

/** The host of a URL without a trailing dot. IPv6 addresses are in brackets. */
export const bareHostname = ({ hostname }: URL): string => bareName(hostname);

/** A trailing dot makes a name absolute, but it is still the same name. */
export const bareName = (hostname: string): string => hostname.toLowerCase().replace(/\.$/, '');
