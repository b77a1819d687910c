/** Creates the reader with its components: engines, rendering threads, the page cache and generative models. */
import path from 'node:path';
import { type Config, ConfigError } from '#config.ts';
import type { Documents } from '#documents/documents.ts';
import type { Models } from '#models/index.ts';
import type { Ocr } from '#ocr/index.ts';
import {
  type AbuseRefusals,
  type BlockedKind,
  type CacheOutcome,
  createAbuseRefusals,
  createBrowserEngine,
  createCaptioner,
  createDirectEngine,
  createImageScaler,
  createPool,
  createReader,
  createRemoteEngine,
  createRemotePool,
  createRenderer,
  createScriptFetcher,
  createSiteRecords,
  describeImage,
  type Engine,
  type ImageScaler,
  type OnFetched,
  openCache,
  openResourceList,
  type PagePool,
  PICTURE_INSTRUCTION,
  type Reader,
  type Renderer,
  type ResourceList,
  type SiteRecords,
  type SnapshotCache,
  timedEngine,
} from '#reader/index.ts';
import type { SharedBlobs } from '#storage/blobs/open.ts';
import type { SharedState } from '#storage/shared/open.ts';
import type { Log } from '#telemetry/log.ts';
import { chosenBrowser, remoteBrowsers } from './browser.ts';
import type { CloseStack } from './close-stack.ts';
import type { Network } from './network.ts';

/** Some thousand compressed texts. */
const RECENT_BYTES = 16 * 1024 * 1024;

export interface ReaderModuleParts {
  readonly network: Network;
  readonly documents: Documents;
  readonly ocr: Ocr | undefined;
  readonly models: Models;
  readonly sharedBlobs: SharedBlobs | undefined;
  readonly temporaryDir: string;
  readonly state: SharedState;
  readonly version: string;
  readonly log: Log;
  readonly onCacheRead: (outcome: CacheOutcome) => void;
  readonly onBlocked: (kind: BlockedKind) => void;
  /** Called after each fetch of an engine; absent where nobody looks at the times. */
  readonly onFetched?: OnFetched | undefined;
  /** Components that this reader shares with another reader of this server, which owns and closes them. */
  readonly shared?: SharedParts | undefined;
}

/** Local components that several readers share, even if their remote services differ. */
export interface SharedParts {
  readonly renderer: Renderer;
  /** `undefined` without a browser. */
  readonly pool: PagePool | undefined;
  readonly cache: SnapshotCache;
  readonly sites: SiteRecords;
  readonly abuse: AbuseRefusals;
  /** Hosts whose resources the browser does not load; `undefined` without a list. */
  readonly resourceList: ResourceList | undefined;
}

export interface ReaderModule {
  readonly reader: Reader;
  readonly shared: SharedParts;
  readonly fitPicture: ImageScaler;
}

export async function openReaderModule(
  config: Config,
  parts: ReaderModuleParts,
  resources: CloseStack,
): Promise<ReaderModule> {
  const { network, documents, ocr, models, temporaryDir, version, log, onBlocked, onFetched } = parts;
  const { fetch, trusted, guard } = network;
  const { vision } = models;
  const shared = parts.shared ?? (await openSharedParts(config, parts, resources));
  const { renderer, pool, cache, sites, abuse, resourceList } = shared;
  const direct = resources.use(
    createDirectEngine({ fetch, version, maxFileBytes: config.maxFileBytes, decodeInThread: renderer.decode }),
  );
  const browser =
    pool &&
    createBrowserEngine({
      pool,
      guard,
      refusals: network.refusals,
      version,
      fetchScript: createScriptFetcher(fetch),
      hasContent: renderer.hasContent,
      direct,
      fetch,
      isOwnHost: network.isOwnHost,
      resourceList,
      onAbuse: (url, reason) => {
        abuse.add(url, reason).catch((error: unknown) => log.warn({ err: error }, 'a stopped page was not recorded'));
      },
      limits: {
        maxRequests: config.pageMaxRequests,
        maxDocuments: config.pageMaxDocuments,
        maxDomains: config.pageMaxDomains,
        maxParallel: config.pageMaxParallel,
        maxBytes: config.pageMaxBytes,
      },
    });
  // Closing the engine closes the pool.
  if (browser && !parts.shared) resources.use(browser);
  const { cfUrl, cfAccount, cfToken } = config;
  const remote =
    cfAccount && cfToken
      ? createRemoteEngine({ url: cfUrl, account: cfAccount, token: cfToken, fetch: trusted, guard, version })
      : undefined;
  const fitPicture = createImageScaler(documents, temporaryDir);
  const { ocrMaxPages } = config;
  const timed = (engine: Engine) => (onFetched ? timedEngine(engine, onFetched) : engine);
  const reader = createReader({
    guard,
    direct: timed(direct),
    browser: browser && timed(browser),
    remote: remote && timed(remote),
    renderer,
    abuse,
    sites,
    failures: parts.state.brief,
    pickProxy: network.proxies.pick,
    cache,
    robots: network.robots,
    files: {
      documents,
      ocr,
      ocrMaxPages,
      describe:
        vision &&
        ((picture, { instruction }, signal) =>
          describeImage(picture, { vision, instruction: instruction ?? PICTURE_INSTRUCTION, signal })),
    },
    writers: { models, ocr, ocrMaxPages, renderer, chargeFactor: config.chargeModelFactor },
    captioner: vision && createCaptioner({ vision, fetch, fitPicture }),
    limits: {
      maxDepth: config.maxDepth,
      maxElements: config.maxElements,
      maxElementsKeyless: config.maxElementsKeyless,
      proxyFactor: config.chargeProxyFactor,
      readerlmTokens: config.readerlmTokens,
      visionTokens: config.visionTokens,
    },
    temporaryDir,
    onBlocked,
  });
  return { reader, shared, fitPicture };
}

async function openSharedParts(
  config: Config,
  { network, sharedBlobs, state, log, onCacheRead }: ReaderModuleParts,
  resources: CloseStack,
): Promise<SharedParts> {
  const renderer = resources.use(
    createRenderer({ threads: config.workers, memoryMb: config.workerMemoryMb, timeoutMs: config.renderTimeoutMs }),
  );
  const cache = resources.use(
    await openCache({
      dir: path.join(config.dataDir, 'cache'),
      shared: sharedBlobs && { databaseUrl: config.databaseUrl!, blobs: sharedBlobs.blobs },
      recentBytes: RECENT_BYTES,
      maxBytes: config.cacheMaxBytes,
      freshMs: config.cacheFreshS * 1000,
      keepMs: config.cacheKeepS * 1000,
      keepsNoStore: config.cacheNoStore === 'ignore',
      mayServeCached: network.mayServeCached,
      log,
      onRead: onCacheRead,
    }),
  );
  const sites = createSiteRecords({ store: state.durable, log });
  const abuse = createAbuseRefusals({ refusalMs: config.hostRefusalS * 1000, store: state.brief });
  const resourceList = await openConfiguredResourceList(config, log);
  if (resourceList) resources.use(resourceList);
  return { renderer, pool: await createBrowserPool(config, network, log), cache, sites, abuse, resourceList };
}

/** Throws ConfigError if the configured file cannot be read. */
async function openConfiguredResourceList({ browserBlockFile: file }: Config, log: Log) {
  if (file === undefined) return undefined;
  try {
    return await openResourceList(file, log);
  } catch {
    throw new ConfigError(`browserBlockFile: ${file} cannot be read as text`);
  }
}

/** `undefined` if the browser is disabled or was not found. */
async function createBrowserPool(
  config: Config,
  { openEgress, ownPorts }: Network,
  log: Log,
): Promise<PagePool | undefined> {
  const { dataDir } = config;
  const limits = { maxPages: config.browserPages, maxWaiting: config.browserQueue };
  const addresses = remoteBrowsers(config);
  if (!openEgress) return undefined;
  if (addresses.length > 0) {
    const { route, meter, remote } = await openEgress();
    const { url, grant } = remote!;
    return createRemotePool({
      ...limits,
      addresses,
      token: config.browserToken,
      egress: { route, meter, url, grant },
      onAddress: ownPorts.addElsewhere,
      log: (message, facts) => log[facts.reason === undefined ? 'info' : 'warn'](facts, message),
    });
  }
  const found = chosenBrowser(config);
  if (!found) return undefined;
  return createPool({
    ...limits,
    found,
    openEgress,
    dataDir,
    rendererBytes: config.pageMemoryMb * 1024 * 1024,
    log: (message, facts) => log.info(facts ?? {}, message),
  });
}
