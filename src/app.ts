/**
 * Builds the server. Each module is created once, in order, and closed in reverse order. The files of src/app open the
 * larger parts: outgoing network access, the reader, the APIs.
 */
import os from 'node:os';
import path from 'node:path';
import type { AccountsModule } from '#accounts/index.ts';
import type { BrowserHealth } from '#api/health.ts';
import { createBatch } from '#app/batch.ts';
import { createCollections } from '#app/collections.ts';
import { createCrawl } from '#app/crawl.ts';
import { openFaces, type Place, type ServerFace } from '#app/faces.ts';
import { type FlowFace, openFlowFace } from '#app/flow.ts';
import { type FoundationOptions, openFoundation } from '#app/foundation.ts';
import { readModules } from '#app/metrics.ts';
import { openModelModule, TOKENS } from '#app/model-module.ts';
import { indexEmbedder, passageReranker } from '#app/model-tools.ts';
import { openReading } from '#app/reading.ts';
import { Started } from '#app/started.ts';
import type { Face } from '#http/server.ts';
import { createCompletions, modelNames } from '#models/index.ts';
import type { PoolStatus, Reader } from '#reader/index.ts';
import { type LocalIndex, openIndexOf, openSearch, rememberingReader } from '#search/index.ts';
import { watchDisk } from '#storage/disk.ts';
import type { Log } from '#telemetry/log.ts';

export type { Place } from '#app/faces.ts';

export interface App {
  readonly reader: Reader;
  readonly accounts: AccountsModule;
  readonly faces: Readonly<Record<ServerFace, Face>>;
  readonly flow: FlowFace;
  /** The first API key of a new installation, to be shown only once. */
  readonly firstKey: string | undefined;
  readonly browser: () => BrowserHealth;
  /** Opens all configured ports. Rejects with an error that has the `port` if one is in use. */
  listen(): Promise<Place[]>;
  /** Stops accepting requests, lets running ones finish within `drainMs`, then closes all modules. */
  close(): Promise<void>;
}

export interface AppOptions extends FoundationOptions {
  /** Environment variables that a flow file may refer to. */
  readonly environment?: Readonly<Record<string, string | undefined>>;
}

/** Builds the server. If a module fails to start, those already started are closed. */
export async function createApp(options: AppOptions): Promise<App> {
  const started = new Started();
  try {
    return await build(options, started);
  } catch (error) {
    await started.endAll(options.log);
    throw error;
  }
}

async function build({ config, version, log, environment, lookup }: AppOptions, started: Started): Promise<App> {
  const { dataDir, userAgent } = config;
  const foundation = await openFoundation({ config, version, log, lookup }, started);
  const { temporaryDir, metrics, observe, plans, accounts, firstKey, counters, gatekeeper, pictures } = foundation;
  const { network, documents, ocr, models } = foundation;
  const { fetch, trusted, robots, ownNames } = network;

  const modelHost = started.keep(await openModelModule(config, foundation, log));
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
  const batch = started.keep(await createBatch(config, { accounts, modelHost, fetch, log }));

  const { onCacheRead } = observe;
  const readingParts = { network, documents, ocr, models, temporaryDir, version, log, onCacheRead };
  const { reader: bareReader, renderer, pool, fitPicture } = await openReading(config, readingParts, started);
  const embedder = await indexEmbedder(modelHost, config.searchEmbedder);
  const rerank = await passageReranker(modelHost, config.searchReranker);
  const index = config.indexMaxBytes > 0 ? started.keep(await openIndexOf(config, { embedder, log })) : undefined;
  if (index && config.indexShared !== 'all') warnUnowned(index, log);
  const reader = index
    ? rememberingReader(bareReader, {
        index,
        keepsNoStore: config.cacheNoStore === 'ignore',
        shared: config.indexShared,
        log,
      })
    : bareReader;
  const crawl = started.keep(await createCrawl(config, { accounts, reader, robots, fetch, log }));
  const { onAsked } = observe;
  const { mayServeCached } = network;
  const searchParts = {
    reader,
    trusted,
    fetch,
    fitPicture,
    index,
    mayServeCached,
    embedder,
    rerank,
    version,
    log,
    onAsked,
  };
  const search = started.keep(await openSearch(config, searchParts));

  const collections = started.keep(
    createCollections({
      dir: path.join(dataDir, 'collections'),
      maxBytes: config.flowIndexMaxBytes,
      shared: config.indexShared,
      embedder,
      log,
    }),
  );
  const flowParts = { reader, modelHost, ocr, collections, userAgent, ownNames, version, log, environment };
  const flow = await openFlowFace(config, { ...flowParts, observe: observe.flow });
  started.onEnd(() => flow.close(0));

  readModules(metrics, {
    ...{ version, accounts, counters, pool, renderer, documents, batch, crawl },
    models: modelHost.models,
  });
  const browser = (): BrowserHealth =>
    pool ? { available: true, ...shownStatus(pool.status()) } : { available: false };
  const places = [
    { name: 'data folder', folder: dataDir },
    { name: 'temporary folder', folder: os.tmpdir() },
  ];
  const disk = started.keep(watchDisk({ places, leastFreeBytes: config.diskMinFreeBytes, log }));
  const health = {
    version,
    fullDisks: disk.full,
    browser,
    stores: () => ({
      accounts: stateOf(accounts),
      limits: stateOf(counters),
      batches: stateOf(batch),
      crawls: stateOf(crawl),
    }),
  };
  const modules = {
    accounts,
    plans,
    counters,
    gatekeeper,
    network,
    reader,
    crawl,
    search,
    modelHost,
    completions,
    batch,
  };
  const faceParts = { ...modules, flow, pictures, metrics, health, temporaryDir, version, log };
  const { faces, listen, close: closeFaces } = await openFaces(config, faceParts, started);

  let closing: Promise<void> | undefined;
  const close = () => {
    closing ??= closeFaces().then(() => started.endAll(log));
    return closing;
  };
  return { reader, accounts, faces, flow, firstKey, browser, listen, close };
}

/** Older versions indexed pages without their owner. Such pages are only found with `indexShared` set to `all`. */
function warnUnowned(index: Pick<LocalIndex, 'stats'>, log: Pick<Log, 'warn'>): void {
  index.stats().then(
    ({ onlyAll: pages }) => {
      if (pages === 0) return;
      log.warn(
        { pages },
        'indexed pages without an owner are only found with LECTERN_INDEX_SHARED=all, until they are read again',
      );
    },
    // A search reports the same failure.
    () => {},
  );
}

const stateOf = ({ healthy }: { readonly healthy: boolean }): 'ok' | 'away' => (healthy ? 'ok' : 'away');

/** The fields that health checks may show: not the path and process id of the browser. */
const shownStatus = ({ version, sandboxed, pages, waiting, healthy }: PoolStatus) => ({
  version,
  sandboxed,
  pages,
  waiting,
  healthy,
});
