/** Creates the search from the server's settings. */

import type { Config } from '#config.ts';
import type { Problem } from '#errors.ts';
import { isUrl } from '#is-url.ts';
import type { GuardedFetch } from '#net/fetch/fetch.ts';
import type { CachedUrlCheck } from '#net/guard/cached-url-check.ts';
import type { Guard } from '#net/guard/guard.ts';
import type { TrustedFetch } from '#net/trusted.ts';
import type { Reader } from '#reader/index.ts';
import type { SharedStore } from '#storage/shared/values.ts';
import type { Log } from '#telemetry/log.ts';
import { createAskProvider } from './ask-provider.ts';
import { createFavicons, type FitPicture } from './favicons.ts';
import { createHitFinder } from './find-hits.ts';
import type { LocalIndex } from './index/local-index.ts';
import { PUBLIC_SOURCES } from './providers/providers.ts';
import { createSearch, type Search } from './search.ts';
import type { PassageTools } from './select-passages.ts';
import {
  CONTACT_SETTING,
  LOCAL_INDEX_ROW,
  lacksContact,
  type ProviderRow,
  parseProviderRows,
  parseSourceRows,
  requireContact,
} from './settings.ts';
import { type Connections, createConnections } from './source-limiter.ts';
import { createIndexSource, createSource, type SourceTools } from './sources.ts';
import { createSearchStore } from './store.ts';

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
  /** Keeps lists of hits, and the counts of requests to providers. */
  readonly store: SharedStore;
  readonly version: string;
  readonly log: Pick<Log, 'warn' | 'info'>;
  /** Connections to public sources, shared by all searches of this process. Default: own ones. */
  readonly connections?: Connections | undefined;
  /** Called with the outcome of each request to a provider. */
  readonly onAsked?: SourceTools['onAsked'];
}

export interface SearchRegion {
  /** Whether the provider at this URL may be queried. */
  allows(url: string): boolean;
  /** The problem thrown by every search if no provider may be queried. */
  readonly refusal: () => Problem;
}

export type SearchSettings = Pick<Config, 'searchProviders' | 'searchProvidersAtOnce' | 'indexShared'> &
  Partial<Pick<Config, 'searchSources' | 'contact' | 'region'>>;

/** Throws ConfigError if a row of `searchProviders` or `searchSources` is invalid. */
export async function openSearch(settings: SearchSettings, tools: SearchTools): Promise<Search> {
  const { reader, trusted, fetch, fitPicture, index, mayServeCached, guard, embedder, rerank, version, log, onAsked } =
    tools;
  const { contact } = settings;
  const known = parseProviderRows(settings.searchProviders);
  const { region } = tools;
  const rows = known.filter((row) => row === LOCAL_INDEX_ROW || !region || region.allows(row.settings.url));
  const open = choosePublicSources(settings, known, tools);
  const blocks = (url: string) => guard !== undefined && isUrl(url) && guard.blocks(new URL(url));
  const shared = settings.indexShared;
  const indexSource = index && createIndexSource(index, { shared, mayServeCached, blocks, rerank, log });
  const store = createSearchStore(tools.store, { log });
  const ask = createAskProvider({
    fetch: trusted,
    userAgent: `Lectern/${version} (search${contact ? `; ${contact}` : ''})`,
    email: contact?.includes('@') ? contact : undefined,
  });
  const { connections = createConnections() } = tools;
  const create = (row: ProviderRow) => {
    const { name, provider } = row;
    if (provider.notice) log.info({ provider: name }, provider.notice);
    return createSource(row, { ask, store, connections, log, onAsked });
  };
  const sources = rows.flatMap((row) => (row !== LOCAL_INDEX_ROW ? [create(row)] : indexSource ? [indexSource] : []));
  const search = createSearch({
    hitFinder: createHitFinder({
      sources,
      index: indexSource,
      maxAtOnce: settings.searchProvidersAtOnce,
      publicSources: open.rows.map(create),
      unavailable: open.unavailable,
    }),
    reader,
    blocks,
    passages: { embedder, rerank },
    favicons: createFavicons({ fetch, fitPicture }),
  });
  const isLeft = rows.length + open.rows.length > 0;
  return region && !isLeft && known.length + open.outside > 0 ? refusing(search, region) : search;
}

interface OpenSources {
  readonly rows: readonly ProviderRow[];
  /** Why the others cannot be asked, by name. */
  readonly unavailable: ReadonlyMap<string, string>;
  /** Number of sources outside the region. */
  readonly outside: number;
}

/** Public sources that are on, whose terms are kept, and that are inside the region. */
function choosePublicSources(
  { searchSources = [], contact, region: kept }: SearchSettings,
  known: readonly (ProviderRow | typeof LOCAL_INDEX_ROW)[],
  { region, trusted, log }: Pick<SearchTools, 'region' | 'trusted' | 'log'>,
): OpenSources {
  const providers = known.flatMap((row) => (row === LOCAL_INDEX_ROW ? [] : [row]));
  const on = parseSourceRows(
    searchSources,
    providers.map(({ name }) => name),
  );
  // A source that the operator named is an error without its contact; one that is on by `all` is left out.
  const isNamed = (row: ProviderRow) =>
    searchSources.some((given) => given === row.name || (typeof given === 'object' && given.name === row.name));
  requireContact([...providers, ...on.filter(isNamed)], contact);
  const isInside = ({ settings: { url } }: ProviderRow) => {
    const shown = url.replace('{language}', 'en');
    return region ? region.allows(shown) : kept !== 'eu' || isAllowed(trusted, shown);
  };
  const inside = on.filter(isInside);
  const rows = inside.filter((row) => !lacksContact(row, contact));
  const named = new Set([...providers, ...rows].map(({ name }) => name));
  const reasonOf = (name: string) => {
    if (!on.some((row) => row.name === name)) return 'off: LECTERN_SEARCH_SOURCES';
    return inside.some((row) => row.name === name) ? `needs ${CONTACT_SETTING}` : 'outside the EU';
  };
  const others = [...new Set([...Object.keys(PUBLIC_SOURCES), ...on.map(({ name }) => name)])];
  const unavailable = new Map(others.filter((name) => !named.has(name)).map((name) => [name, reasonOf(name)]));
  const lacking = inside.filter((row) => lacksContact(row, contact)).map(({ name }) => name);
  if (lacking.length)
    log.warn({ sources: lacking }, `these search sources are not asked: their terms require ${CONTACT_SETTING}`);
  return { rows, unavailable, outside: on.length - inside.length };
}

/** Whether the region rules of this server permit requests to a URL. */
function isAllowed(trusted: TrustedFetch, url: string): boolean {
  try {
    trusted.check(url);
    return true;
  } catch {
    return false;
  }
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
