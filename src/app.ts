/**
 * Creates the whole server. Each module is created once, in a fixed order, and closed in reverse order. Related parts
 * (network access, reading, APIs) are created in files of src/app.
 */
import os from 'node:os';
import type { AccountsModule } from '#accounts/index.ts';
import type { BrowserHealth } from '#api/health.ts';
import { createBatch } from '#app/batch.ts';
import { CloseStack } from '#app/close-stack.ts';
import { createCollections } from '#app/collections/collections.ts';
import { collectionsDirOf } from '#app/collections/place.ts';
import { createCrawl } from '#app/crawl.ts';
import { openEuModules } from '#app/eu.ts';
import type { ServerFaces } from '#app/face-servers.ts';
import { createFaces } from '#app/faces.ts';
import { type FlowFace, openFlowFace } from '#app/flow.ts';
import { type FoundationOptions, openFoundation } from '#app/foundation.ts';
import { startIndex } from '#app/indexing-reader.ts';
import type { FaceUrl } from '#app/listen.ts';
import { registerModuleMetrics, registerRemoteMetrics } from '#app/metrics.ts';
import { openModelModule, TOKENS } from '#app/model-module.ts';
import { createIndexEmbedder, createPassageReranker } from '#app/model-tools.ts';
import { openReaderModule } from '#app/reader-module.ts';
import { openClassify } from '#classify/index.ts';
import type { Config } from '#config.ts';
import { createCompletions, modelNames } from '#models/index.ts';
import type { PoolStatus, Reader } from '#reader/index.ts';
import { createConnections, openSearch } from '#search/index.ts';
import { watchDisk } from '#storage/disk.ts';
import { createHostTimes } from '#telemetry/host-times.ts';

export type { FaceUrl } from '#app/listen.ts';

export interface App {
  readonly reader: Reader;
  readonly accounts: AccountsModule;
  readonly faces: ServerFaces;
  readonly flow: FlowFace;
  /** The first key of a new installation, available once the ports are open. It cannot be shown again. */
  readonly firstKey: string | undefined;
  /** Creates the first key for use without ports; `undefined` if there are keys already, or if none are required. */
  mintFirstKey(): Promise<string | undefined>;
  readonly browser: () => BrowserHealth;
  /** Opens the ports of the configuration. Throws an error that names a port already in use. */
  listen(): Promise<FaceUrl[]>;
  /**
   * Accepts no more requests, waits until those in flight have finished (at most the drain time), and closes all
   * modules.
   */
  close(): Promise<void>;
}

export interface AppOptions extends FoundationOptions {
  /** Variables that a flow definition may refer to. */
  readonly environment?: Readonly<Record<string, string | undefined>>;
}

/** Creates the server. If one part fails to start, the parts that were started before it are closed. */
export async function createApp(options: AppOptions): Promise<App> {
  const resources = new CloseStack();
  try {
    return await build(options, resources);
  } catch (error) {
    await resources.closeAll(options.log);
    throw error;
  }
}

async function build({ config, version, log, environment, lookup }: AppOptions, resources: CloseStack): Promise<App> {
  const { dataDir, userAgent } = config;
  const foundation = await openFoundation({ config, version, log, lookup }, resources);
  const { temporaryDir, metrics, observe, plans, accounts, mintFirstKey, counters, state, accessHooks, pictures } =
    foundation;
  const { network, workQueue, documents, ocr, models, sharedBlobs } = foundation;
  const { fetch, trusted, robots, ownNames } = network;

  const modelHost = resources.use(await openModelModule(config, foundation, log));
  const completions = createCompletions({
    ocr,
    models,
    names: modelNames(config),
    ocrPrompt: config.ocrPrompt,
    documents,
    fetch,
    temporaryDir,
    tokens: TOKENS,
    deadlineMs: config.modelDeadlineMs,
    generatingMs: config.modelTimeoutMs,
  });
  const batch = resources.use(
    await createBatch(config, { accounts, modelHost, sharedBlobs, fetch, onRun: observe.onJobRun('batch'), log }),
  );

  const classify = resources.use(await openClassify({ ...config, ...modelHost, log }));

  const { onCacheRead, onBlocked } = observe;
  const hostTimes = createHostTimes();
  const readerParts = {
    ...{ network, documents, ocr, models, sharedBlobs, temporaryDir, state },
    ...{ version, log, onCacheRead, onBlocked, onFetched: hostTimes.add },
  };
  const { reader: bareReader, shared, fitPicture } = await openReaderModule(config, readerParts, resources);
  const { renderer, pool } = shared;
  const embedder = await createIndexEmbedder(modelHost, config.searchEmbedder);
  const rerank = await createPassageReranker(modelHost, config.searchReranker);
  // Its thread opens the store while the other modules are created.
  const { index, reader, opened: indexOpened } = startIndex(config, { embedder, bareReader, log }, resources);
  const crawl = resources.use(
    await createCrawl(config, { accounts, reader, robots, fetch, onRun: observe.onJobRun('crawl'), log }),
  );
  const { onAsked } = observe;
  const { mayServeCached, guard } = network;
  const searchParts = {
    reader,
    trusted,
    fetch,
    fitPicture,
    index,
    mayServeCached,
    guard,
    embedder,
    rerank,
    version,
    log,
    onAsked,
    connections: createConnections(),
    store: state.durable,
  };
  const search = await openSearch(config, searchParts);

  const openEu = () => openEuModules(config, { readerParts, shared, searchParts, index, modelHost, log }, resources);

  const collections = resources.use(
    createCollections({
      dir: collectionsDirOf(dataDir),
      databaseUrl: config.databaseUrl,
      maxBytes: config.flowIndexMaxBytes,
      shared: config.indexShared,
      embedder,
      log,
    }),
  );
  let readerPorts: () => readonly number[] = () => [];
  const ownPages = { publicOrigin: config.publicUrl && new URL(config.publicUrl).origin, ports: () => readerPorts() };
  const flowParts = { reader, modelHost, ocr, collections, userAgent, ownNames, ownPages, version, log, environment };
  const flow = await openFlowFace(config, { ...flowParts, observe: observe.flow });
  resources.defer(() => flow.close(0));

  registerModuleMetrics(metrics, {
    ...{ version, accounts, counters, pool, renderer, documents, batch, crawl },
    models: modelHost.models,
  });
  if (workQueue) registerRemoteMetrics(metrics, workQueue);
  const browser = (): BrowserHealth =>
    pool ? { available: true, ...publicStatus(pool.status()) } : { available: false };
  const disk = resources.use(watchDisk({ places: foldersOf(config), minFreeBytes: config.diskMinFreeBytes, log }));
  const stores = () => ({
    accounts: stateOf(accounts),
    limits: stateOf(counters),
    shared: stateOf(state),
    batches: stateOf(batch),
    classifiers: stateOf(classify),
    crawls: stateOf(crawl),
    cache: stateOf(shared.cache),
    ...(sharedBlobs && { blobs: stateOf(sharedBlobs) }),
    ...(workQueue && { remoteWork: stateOf(workQueue) }),
  });
  const health = { version, fullDisks: disk.full, browser, stores };
  const modules = {
    ...{ accounts, plans, counters, state, accessHooks, network, reader, crawl, search, openEu },
    ...{ models, modelHost, completions, batch, classify, flow },
    ...{ pictures, metrics, hostTimes, health, temporaryDir, version, log },
  };
  const opened = await createFaces(config, modules, resources);
  const { faces, listen: openPorts, close: closeFaces } = opened;
  readerPorts = opened.readerPorts;
  await indexOpened;

  let firstKey: string | undefined;
  // The key is created only after the ports are open, because a key created before a failed start would never be shown.
  async function listen(): Promise<FaceUrl[]> {
    const urls = await openPorts();
    firstKey = await mintFirstKey();
    return urls;
  }

  let closing: Promise<void> | undefined;
  const close = () => {
    closing ??= closeFaces().then(() => resources.closeAll(log));
    return closing;
  };
  return {
    ...{ reader, accounts, faces, flow, browser, mintFirstKey, listen, close },
    get firstKey() {
      return firstKey;
    },
  };
}

const foldersOf = ({ dataDir }: Config) => [
  { name: 'data folder', folder: dataDir },
  { name: 'temporary folder', folder: os.tmpdir() },
];

const stateOf = ({ healthy }: { readonly healthy: boolean }): 'ok' | 'away' => (healthy ? 'ok' : 'away');

/** The browser status that health endpoints show. Omits the path and process id of the browser. */
const publicStatus = ({ version, sandboxed, pages, waiting, healthy, remote }: PoolStatus) => ({
  version,
  sandboxed,
  pages,
  waiting,
  healthy,
  ...(remote && { remote }),
});
