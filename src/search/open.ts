/** Creates the search from the server's settings. */

import type { Config } from '#config.ts';
import type { Problem } from '#errors.ts';
import { isUrl } from '#is-url.ts';
import type { GuardedFetch } from '#net/fetch/fetch.ts';
import type { CachedUrlCheck } from '#net/guard/cached-url-check.ts';
import type { Guard } from '#net/guard/guard.ts';
import type { TrustedFetch } from '#net/trusted.ts';
import type { Reader } from '#reader/index.ts';
import type { Log } from '#telemetry/log.ts';
import { createAskProvider } from './ask-provider.ts';
import { createFavicons, type FitPicture } from './favicons.ts';
import { createHitFinder } from './find-hits.ts';
import type { LocalIndex } from './index/local-index.ts';
import { createSearch, type Search } from './search.ts';
import type { PassageTools } from './select-passages.ts';
import { LOCAL_INDEX_ROW, parseProviderRows } from './settings.ts';
import { createIndexSource, createSource, type SourceTools } from './sources.ts';
import { openSearchStore } from './store.ts';

export interface SearchTools extends PassageTools {
  readonly reader: Reader;
  /** Used for requests to the search providers. */
  readonly trusted: TrustedFetch;
  /** Used to fetch site icons. */
  readonly fetch: GuardedFetch;
  readonly fitPicture: FitPicture;
  /** The local index; absent if the server has none. */
  readonly index?: LocalIndex | undefined;
  /** Whether a stored page may still be returned. */
  readonly mayServeCached: CachedUrlCheck;
  /** Decides which URLs are blocked. They are omitted from results. */
  readonly guard?: Pick<Guard, 'blocks'> | undefined;
  /** Region rules that every provider must satisfy. Default: none. */
  readonly region?: SearchRegion | undefined;
  readonly version: string;
  readonly log: Pick<Log, 'warn' | 'info'>;
  /** Called with the outcome of each request to a provider. */
  readonly onAsked?: SourceTools['onAsked'];
}

export interface SearchRegion {
  /** Whether the provider at this URL may be queried. */
  allows(url: string): boolean;
  /** The problem thrown by every search if no provider may be queried. */
  readonly refusal: () => Problem;
}

export type SearchSettings = Pick<Config, 'dataDir' | 'searchProviders' | 'searchProvidersAtOnce' | 'indexShared'>;

/** Throws ConfigError if a row of `searchProviders` is invalid. */
export async function openSearch(settings: SearchSettings, tools: SearchTools): Promise<Search> {
  const { reader, trusted, fetch, fitPicture, index, mayServeCached, guard, embedder, rerank, version, log, onAsked } =
    tools;
  const known = parseProviderRows(settings.searchProviders);
  const { region } = tools;
  const rows = known.filter((row) => row === LOCAL_INDEX_ROW || !region || region.allows(row.settings.url));
  const blocks = (url: string) => guard !== undefined && isUrl(url) && guard.blocks(new URL(url));
  const shared = settings.indexShared;
  const indexSource = index && createIndexSource(index, { shared, mayServeCached, blocks, rerank, log });
  const store = await openSearchStore(settings.dataDir, { log });
  const ask = createAskProvider({ fetch: trusted, userAgent: `Lectern/${version} (search)` });
  const sources = rows.flatMap((row) => {
    if (row === LOCAL_INDEX_ROW) return indexSource ? [indexSource] : [];
    const { name, provider } = row;
    if (provider.notice) log.info({ provider: name }, provider.notice);
    return [createSource(row, { ask, store, log, onAsked })];
  });
  const search = createSearch({
    hitFinder: createHitFinder({ sources, index: indexSource, maxAtOnce: settings.searchProvidersAtOnce }),
    reader,
    blocks,
    passages: { embedder, rerank },
    favicons: createFavicons({ fetch, fitPicture }),
    close: () => store.close(),
  });
  return region && rows.length < known.length && rows.length === 0 ? refusing(search, region) : search;
}

/** Used if all configured providers are outside the region. */
const refusing = (search: Search, { refusal }: SearchRegion): Search => ({
  ...search,
  // biome-ignore lint/correctness/useYield: it only throws
  async *each() {
    throw refusal();
  },
  last: async () => {
    throw refusal();
  },
});
