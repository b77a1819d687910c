/** The search room as the server has it, put together from the settings. */
import type { Config } from '#config.ts';
import type { GuardedFetch } from '#net/fetch/fetch.ts';
import type { MayServeCached } from '#net/guard/cached-url-check.ts';
import type { TrustedFetch } from '#net/trusted.ts';
import type { Reader } from '#reader/index.ts';
import type { Log } from '#telemetry/log.ts';
import { createAsk } from './ask.ts';
import { createFavicons, type FitPicture } from './favicons.ts';
import type { LocalIndex } from './index/local-index.ts';
import { createLists } from './lists.ts';
import type { PassageTools } from './passages.ts';
import { createSearch, type Search } from './search.ts';
import { OWN_ROW, readProviderRows } from './settings.ts';
import { createOwnSource, createSource, type SourceTools } from './sources.ts';
import { openSearchStore } from './store.ts';

export interface SearchTools extends PassageTools {
  readonly reader: Reader;
  /** To the services of the settings. */
  readonly trusted: TrustedFetch;
  /** To the sites themselves, for their icons. */
  readonly fetch: GuardedFetch;
  readonly fitPicture: FitPicture;
  /** The server's own index of pages; absent when it keeps none. */
  readonly index?: LocalIndex | undefined;
  /** Whether what was kept of a URL may still be answered. */
  readonly mayServeCached: MayServeCached;
  readonly version: string;
  readonly log: Pick<Log, 'warn' | 'info'>;
  /** Told of each question to a service of the settings what became of it. */
  readonly onAsked?: SourceTools['onAsked'];
}

export type SearchSettings = Pick<Config, 'dataDir' | 'searchProviders' | 'searchProvidersAtOnce' | 'indexShared'>;

/** Throws ConfigError when a row of `searchProviders` cannot be. */
export async function openSearch(settings: SearchSettings, tools: SearchTools): Promise<Search> {
  const { reader, trusted, fetch, fitPicture, index, mayServeCached, embedder, rerank, version, log, onAsked } = tools;
  const rows = readProviderRows(settings.searchProviders);
  const own = index && createOwnSource(index, { shared: settings.indexShared, mayServeCached, rerank, log });
  const store = await openSearchStore(settings.dataDir, { log });
  const ask = createAsk({ fetch: trusted, userAgent: `Lectern/${version} (search)` });
  const sources = rows.flatMap((row) => {
    if (row === OWN_ROW) return own ? [own] : [];
    const { name, provider } = row;
    if (provider.notice) log.info({ provider: name }, provider.notice);
    return [createSource(row, { ask, store, log, onAsked })];
  });
  return createSearch({
    lists: createLists({ sources, own, atOnce: settings.searchProvidersAtOnce }),
    reader,
    passages: { embedder, rerank },
    favicons: createFavicons({ fetch, fitPicture }),
    close: () => store.close(),
  });
}
