/** Recognizes URLs of the same page on sites that public sources link to in different ways. For comparison only. */

interface Place {
  readonly host: string;
  readonly path: string;
}

/** Each rule changes the places that it recognizes, and leaves all others alone. They are applied in this order. */
const RULES: readonly ((place: Place) => Place)[] = [
  // A DOI is case-insensitive, and has had two resolvers.
  ({ host, path }) =>
    /^(?:dx\.)?doi\.org$/.test(host) ? { host: 'doi.org', path: path.toLowerCase() } : { host, path },
  // A preprint has a DOI of its own.
  (place) => {
    const id = place.host === 'doi.org' && /^\/10\.48550\/arxiv\.(.+)$/.exec(place.path)?.[1];
    return id ? { host: 'arxiv.org', path: `/abs/${id}` } : place;
  },
  // Versions and forms of a preprint.
  ({ host, path }) =>
    host === 'arxiv.org'
      ? {
          host,
          path: path
            .replace(/^\/(?:pdf|html)\//, '/abs/')
            .replace(/(?:\.pdf)?$/, '')
            .replace(/v\d+$/, ''),
        }
      : { host, path },
  // Wikis have a site for small screens.
  ({ host, path }) => ({ host: host.replace(/\.m\.(?=(?:wik[a-z]+)\.org$)/, '.'), path }),
  // The title in the URL of a question is decoration.
  ({ host, path }) => ({
    host,
    path: isStackExchange(host) ? path.replace(/^\/(?:questions|q)\/(\d+)(?:\/.*)?$/, '/questions/$1') : path,
  }),
];

const STACK_EXCHANGE =
  /^(?:stackoverflow|serverfault|superuser|askubuntu|mathoverflow)\.(?:com|net)$|\.stackexchange\.com$/;
const isStackExchange = (host: string): boolean => STACK_EXCHANGE.test(host);

/** Returns the host and path without what does not change the page. */
export function canonicalPlace({ host, pathname }: URL): Place {
  const path = pathname.replace(/\/(?:index\.(?:html?|php))?$/i, '');
  return RULES.reduce<Place>((place, rule) => rule(place), { host: host.replace(/^www\./, ''), path });
}
