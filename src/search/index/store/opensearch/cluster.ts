/** Asks an OpenSearch cluster what it is, for `lectern doctor`. */
import { createTrustedFetch } from '#net/trusted.ts';
import { createOpenSearchClient, parseOpenSearchUrl } from './client.ts';

/** Earlier versions cannot filter while they search vectors. */
const MIN_VERSION = 2;

/**
 * Returns the version of the cluster. Throws if the URL is invalid, if the cluster does not answer or refuses access, or
 * if it is not OpenSearch 2 or later. Writes nothing.
 */
export async function askOpenSearch(url: string): Promise<string> {
  const place = parseOpenSearchUrl(url);
  const fetch = createTrustedFetch({ region: 'any', euHosts: [], log: { info: () => {}, warn: () => {} } });
  try {
    const { version } = await createOpenSearchClient(place, fetch).send<{
      version?: { distribution?: string; number?: string };
    }>('GET', '');
    const number = version?.number ?? 'of unknown version';
    if (version?.distribution !== 'opensearch') throw new Error(`the server is not OpenSearch (${number})`);
    if (Number.parseInt(number, 10) < MIN_VERSION)
      throw new Error(`OpenSearch ${number} is too old: version ${MIN_VERSION} or later is needed`);
    return number;
  } finally {
    await fetch.close();
  }
}
