/**
 * The reader and the search for the EU host names. They use only services that the operator marked as inside the EU.
 * Parts that run on this machine are shared with the other reader and search. A request that needs another service is
 * refused before anything is sent.
 */

import { type Config, environmentName, type SettingName } from '#config.ts';
import { type Problem, problem } from '#errors.ts';
import { isUrl } from '#is-url.ts';
import { createModels, type ModelHost, type Models } from '#models/index.ts';
import { createFetch } from '#net/fetch/fetch.ts';
import { createProxyTable, parseProxyUrl } from '#net/proxy/proxy-table.ts';
import { createRegion, type Region } from '#net/region.ts';
import { createRobots } from '#net/robots/robots.ts';
import { createTrustedFetch } from '#net/trusted.ts';
import { ownValue } from '#own-value.ts';
import { defaultUserAgent, type Options, type Reader } from '#reader/index.ts';
import { createIndexingReader, type LocalIndex, openSearch, type Search, type SearchTools } from '#search/index.ts';
import type { Log } from '#telemetry/log.ts';
import type { SpanExport } from '#telemetry/otlp.ts';
import { areBrowsersInsideEu } from './browser.ts';
import type { CloseStack } from './close-stack.ts';
import { openReaderModule, type ReaderModuleParts, type SharedParts } from './reader-module.ts';

export interface EuModules {
  readonly reader: Reader;
  readonly search: Search;
  readonly models: Models;
  /** `undefined` if no collector is inside the EU. */
  readonly spanExport: SpanExport | undefined;
  /**
   * The problem that is returned for every request if the accounts, limits or pages of this server are stored outside the EU.
   */
  readonly refusal: Problem | undefined;
}

export interface EuParts {
  readonly readerParts: Omit<ReaderModuleParts, 'shared'>;
  readonly shared: SharedParts;
  readonly searchParts: Omit<SearchTools, 'region'>;
  readonly index: LocalIndex | undefined;
  readonly modelHost: Pick<ModelHost, 'registry'>;
  readonly log: Log;
}

export async function openEuModules(config: Config, parts: EuParts, resources: CloseStack): Promise<EuModules> {
  const { readerParts, shared, searchParts, log } = parts;
  const rules = { region: 'eu', euHosts: config.euHosts, log } as const;
  const region = createRegion(rules);
  const { guard, spanExport } = readerParts.network;
  const fetch = resources.use(createFetch({ guard, region }));
  const trusted = resources.use(createTrustedFetch(rules));
  const network = {
    ...readerParts.network,
    ...{ fetch, trusted, proxies: createProxyTable(config.proxies, { region }) },
    robots: createRobots({ fetch, userAgent: config.userAgent ?? defaultUserAgent() }),
  };
  const models = modelsInside(createModels(config, { fetch: trusted }), config, region);
  const pool = areBrowsersInsideEu(config) ? shared.pool : undefined;
  const { reader: bare } = await openReaderModule(
    config,
    { ...readerParts, network, models, shared: { ...shared, pool } },
    resources,
  );

  const isEmbedderInside = await runsInside(config.searchEmbedder, 'embedding', parts, region);
  const isRerankerInside = await runsInside(config.searchReranker, 'reranker', parts, region);
  // The index uses its model to embed pages and queries.
  const index = isEmbedderInside ? parts.index : undefined;
  const indexing = index
    ? createIndexingReader(bare, {
        index,
        keepsNoStore: config.cacheNoStore === 'ignore',
        shared: config.indexShared,
        log,
      })
    : bare;
  const reader = insideEu(indexing, config, region);
  const search = await openSearch(config, {
    ...searchParts,
    ...{ reader, trusted, fetch, index },
    embedder: isEmbedderInside ? searchParts.embedder : undefined,
    rerank: isRerankerInside ? searchParts.rerank : undefined,
    region: {
      allows: (url) => isUrl(url) && region.allows(new URL(url)),
      refusal: () => outside('Every search provider of this server', 'searchProviders'),
    },
  });
  const stores = storesOutside(config, region);
  if (stores.length)
    log.warn({ settings: stores }, 'requests to the EU hosts are refused: a database or bucket is outside the EU');
  const { otlpUrl } = config;
  const isTraced = otlpUrl !== undefined && region.allows(new URL(otlpUrl));
  if (otlpUrl !== undefined && !isTraced)
    log.warn('traces of the EU hosts are not exported: the collector is outside the EU');
  return {
    ...{ reader, search, models },
    spanExport: isTraced ? spanExport : undefined,
    refusal: stores[0] && outside('The store of accounts, limits or pages', stores[0]),
  };
}

/** Paths of operations that continue after the request. Only the other reader host serves them. */
const ELSEWHERE = /^\/(?:crawls?|mcp|playground)(?:[/?]|$)/;

/** Throws OperationNotAllowedError for a path that the EU hosts do not serve, and `refusal` if it is set. */
export function refuseAtEuHost(path: string, { refusal }: Pick<EuModules, 'refusal'>): void {
  if (refusal) throw refusal;
  if (!ELSEWHERE.test(path)) return;
  throw problem('OperationNotAllowedError', {
    message:
      'This host reads and searches inside the EU. Crawls, MCP and the playground are on the other host of the reader',
  });
}

/**
 * The status is 403, because the operation is possible on another host and a retry on this one would not help. 422
 * would mean that a service failed, and 451 that the target is refused.
 */
const outside = (what: string, setting: SettingName, path?: string): Problem =>
  problem('OperationNotAllowedError', {
    ...(path !== undefined && { path }),
    message: `${what} (${environmentName(setting)}) is outside the EU, and this host uses only services inside the EU. The operator can list hosts inside the EU in LECTERN_EU_HOSTS`,
  });

type Role = 'vision' | 'readerlm' | 'ocr' | 'chat';
const ROLES: Readonly<Record<Role, string>> = {
  vision: 'The vision model',
  readerlm: 'The model that reads HTML',
  ocr: 'The text recognition server',
  chat: 'The language model',
};

/** The setting that contains the server URL of a role; `undefined` if the role has none. */
function urlSetting(role: Role, config: Config): 'chatUrl' | `${Role}Url` | undefined {
  if (role === 'ocr' && !config.ocrUrl && !config.ocrModel) return undefined;
  if (config[`${role}Url`] !== undefined) return `${role}Url`;
  return config.chatUrl === undefined ? undefined : 'chatUrl';
}

/** Returns the models without those on servers outside the EU. */
function modelsInside(models: Models, config: Config, region: Region): Models {
  const allowed = Object.entries(models).filter(([role]) => {
    const setting = urlSetting(role as Role, config);
    return setting === undefined || region.allows(new URL(config[setting]!));
  });
  return Object.fromEntries(allowed);
}

/** A reader that refuses reads that need a service outside the EU, and marks all others as inside it. */
function insideEu(reader: Reader, config: Config, region: Region): Reader {
  const requireRole = (role: Role, path: string) => {
    const setting = urlSetting(role, config);
    if (setting && !region.allows(new URL(config[setting]!))) throw outside(ROLES[role], setting, path);
  };
  const check = ({ modelFormat, retainImages, instruction, engine, proxyUrl }: Options) => {
    if (modelFormat === 'vlm') requireRole('vision', 'respondWith');
    else if (modelFormat === 'readerlm-v2') requireRole('readerlm', 'respondWith');
    else if (modelFormat) requireRole('ocr', 'respondWith');
    else if (instruction !== undefined) requireRole('vision', 'instruction');
    if (retainImages.endsWith('_p')) requireRole('vision', 'retainImages');
    const { cfUrl, cfAccount, cfToken } = config;
    if (engine === 'cf-browser-rendering' && cfAccount && cfToken && !region.allows(new URL(cfUrl))) {
      throw outside('The rendering service', 'cfUrl', 'engine');
    }
    if (proxyUrl === undefined || region.allows(parseProxyUrl(proxyUrl))) return;
    throw problem('OperationNotAllowedError', {
      path: 'proxyUrl',
      message:
        'The proxy is outside the EU, and this host uses only proxies inside the EU. The operator can list hosts inside the EU in LECTERN_EU_HOSTS',
    });
  };
  return {
    async *each(request) {
      check(request.options);
      yield* reader.each({ ...request, region: 'eu' });
    },
    async last(request) {
      check(request.options);
      return reader.last({ ...request, region: 'eu' });
    },
  };
}

/** Whether a model of the model host runs on this machine, or on a server inside the EU. */
async function runsInside(
  name: string,
  does: 'embedding' | 'reranker',
  { modelHost, log }: Pick<EuParts, 'modelHost' | 'log'>,
  region: Region,
): Promise<boolean> {
  if (name === 'none') return true;
  const { runs } = (await modelHost.registry[does](name)).row;
  const isInside = runs.on !== 'remote' || region.allows(new URL(runs.url));
  if (!isInside) log.warn({ model: name }, 'the EU hosts search without this model: it is outside the EU');
  return isInside;
}

const DEFAULT_PORTS: Readonly<Record<string, string>> = {
  'postgres:': '5432',
  'postgresql:': '5432',
  'redis:': '6379',
  'rediss:': '6379',
  'opensearch+http:': '80',
  'opensearch+https:': '443',
  'http:': '80',
  'https:': '443',
};

type StoreSetting = 'databaseUrl' | 'indexUrl' | 'redisUrl' | 'blobsUrl';

/**
 * The settings that name stores outside the EU. These stores contain keys, usage, limits and pages, which every request needs.
 */
export const storesOutside = (
  config: Partial<Pick<Config, 'databaseUrl' | 'indexUrl' | 'redisUrl' | 'blobsUrl' | 'blobsEndpoint' | 'blobsRegion'>>,
  region: Pick<Region, 'allows'>,
): StoreSetting[] => {
  const { databaseUrl, indexUrl, redisUrl, blobsUrl, blobsRegion = 'us-east-1' } = config;
  const bucket = blobsUrl && (config.blobsEndpoint ?? `https://s3.${blobsRegion}.amazonaws.com`);
  return (
    Object.entries({ databaseUrl, indexUrl, redisUrl, blobsUrl: bucket }) as [StoreSetting, string | undefined][]
  ).flatMap(([name, url]) => (isStoreInside(url, region) ? [] : [name]));
};

/** A store without a URL is a file on this machine. */
function isStoreInside(text: string | undefined, region: Pick<Region, 'allows'>): boolean {
  if (text === undefined) return true;
  const url = new URL(text);
  // Without a host name, the database listens on a local socket of this machine.
  if (!url.hostname) return true;
  return region.allows(new URL(`http://${url.hostname}:${url.port || ownValue(DEFAULT_PORTS, url.protocol)}`));
}
