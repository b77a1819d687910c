/**
 * The index in OpenSearch 2 or later, which any number of servers can share: words, vectors and filters in one engine.
 * There are no transactions. A page is replaced document by document, and what remains of its last version is removed
 * after that; a server that is killed in between leaves passages of both versions until the page is read again.
 */
import { createTrustedFetch } from '#net/trusted.ts';
import type { Log } from '#telemetry/log.ts';
import type { Filters } from '../../query/filters.ts';
import { type IndexStore, SHARED_OVERLAP } from '../index-store.ts';
import {
  createOpenSearchClient,
  type OpenSearchClient,
  OpenSearchError,
  parseOpenSearchUrl,
  type SearchHit,
} from './client.ts';
import { INDEX_BODY } from './mapping.ts';
import { pageQueries } from './pages.ts';
import { all, conditionsOf, none, oneOf, phraseOf, type Query } from './queries.ts';
import { readQueries } from './rows.ts';
import { vectorQueries } from './vectors.ts';
import { wordQueries } from './words.ts';

/** What the parts of the store need of it. */
export interface OpenSearchTools {
  /** Makes sure that the index exists before each request. */
  client(): Promise<OpenSearchClient>;
  /** The conditions of filters, on passages. */
  conditions(filters: Filters): Promise<Query[]>;
  /** Returns the documents that match, in order of `id`, however many there are. */
  each(query: Query, more: Readonly<Record<string, unknown>>): AsyncGenerator<SearchHit[]>;
}

/** Maximum number of pages that a phrase or an excluded word can select: the limit of a query for several values. */
const MAX_PAGES = 50_000;
const HITS_AT_ONCE = 5_000;

/**
 * Throws if the URL is invalid or the cluster refuses access. If it is unavailable, each call tries again and fails with
 * the failure of the connection.
 */
export async function openOpenSearchIndex(url: string, log?: Pick<Log, 'warn'>): Promise<IndexStore> {
  const place = parseOpenSearchUrl(url);
  const fetch = createTrustedFetch({ region: 'any', euHosts: [], log: { info: () => {}, warn: () => {} } });
  const client = createOpenSearchClient(place, fetch);
  let ready: Promise<void> | undefined;

  const tools: OpenSearchTools = {
    async client() {
      ready ??= createIndex(client).catch((error: unknown) => {
        ready = undefined;
        throw error;
      });
      await ready;
      return client;
    },
    async conditions(filters) {
      const own = conditionsOf(filters);
      const [having, excluded] = await Promise.all([
        Promise.all(filters.phrases.map(({ slots }) => pagesWith(phraseOf(slots), own))),
        Promise.all(filters.excluded.map((slots) => pagesWith(phraseOf(slots), own))),
      ]);
      return [
        ...own,
        ...having.map((pages) => oneOf('page', pages)),
        ...excluded.map((pages) => none([oneOf('page', pages)])),
        // In case there are more pages than could be listed.
        ...filters.excluded.map((slots) => none([phraseOf(slots)])),
      ];
    },
    async *each(query, more) {
      let after: readonly unknown[] | undefined;
      for (;;) {
        const { hits } = await (await tools.client()).search({
          ...more,
          query,
          size: HITS_AT_ONCE,
          sort: [{ id: 'asc' }],
          ...(after && { search_after: after }),
        });
        if (hits.hits.length > 0) yield [...hits.hits];
        if (hits.hits.length < HITS_AT_ONCE) return;
        after = hits.hits.at(-1)!.sort;
      }
    },
  };

  /** A phrase concerns a page, so the pages with a passage that has it are looked up first. */
  async function pagesWith(query: Query, conditions: readonly Query[]): Promise<number[]> {
    const { aggregations } = await (await tools.client()).search({
      size: 0,
      query: all([...conditions, query]),
      aggs: { pages: { terms: { field: 'page', size: MAX_PAGES } } },
    });
    const buckets = aggregations!.pages!.buckets as readonly { readonly key: number }[];
    return buckets.map(({ key }) => key);
  }

  try {
    await tools.client();
  } catch (error) {
    if (error instanceof OpenSearchError && error.status < 500 && error.status !== 429) {
      await fetch.close();
      throw error;
    }
    log?.warn({ err: error }, 'OpenSearch cannot be reached: each call tries again');
  }
  return {
    overlap: SHARED_OVERLAP,
    ...pageQueries(tools),
    ...wordQueries(tools),
    ...readQueries(tools),
    ...vectorQueries(tools),
    close: () => fetch.close(),
  };
}

/** Several servers may do this at the same time. */
async function createIndex(client: OpenSearchClient): Promise<void> {
  try {
    await client.send('PUT', client.index, INDEX_BODY);
  } catch (error) {
    if (error instanceof OpenSearchError && error.type === 'resource_already_exists_exception') return;
    throw error;
  }
}
