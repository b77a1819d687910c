/**
 * The whole server, wired by hand: each room is built once, in order, and closed in reverse. What belongs to one part is
 * opened in a file of src/app: the ways out, reading, the doors.
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
import { type LocalIndex, openIndexOf, openSearch, createIndexingReader } from '#search/index.ts';
import { watchDisk } from '#storage/disk.ts';
import type { Log } from '#telemetry/log.ts';

export type { Place } from '#app/faces.ts';

export interface App {
  readonly reader: Reader;
  readonly accounts: AccountsModule;
  readonly faces: Readonly<Record<ServerFace, Face>>;
  readonly flow: FlowFace;
  /** The first key of a new installation, to be shown this once. */
  readonly firstKey: string | undefined;
  readonly browser: () => BrowserHealth;
  /** Opens the ports of the configuration; a port that is taken is an error that names it. */
  listen(): Promise<Place[]>;
  /** Stops taking requests, lets those in flight finish within the drain time, and ends everything that was started. */
  close(): Promise<void>;
}

export interface AppOptions extends FoundationOptions {
  /** What the file of a flow may refer to. */
  readonly environment?: Readonly<Record<string, string | undefined>>;
}

/** Builds everything; what was started before a part failed to is ended again. */
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
  if (index && config.indexShared !== 'all') tellUnshared(index, log);
  const reader = index
    ? createIndexingReader(bareReader, {
        index,
        keepsNoStore: config.cacheNoStore === 'ignore',
        shared: config.indexShared,
        log,
      })
    : bareReader;
  const crawl = started.keep(await createCrawl(config, { accounts, reader, robots, fetch, log }));
  const { onAsked } = observe;
  const { mayAnswer } = network;
  const searchParts = { reader, trusted, fetch, fitPicture, index, mayAnswer, embedder, rerank, version, log, onAsked };
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
  const rooms = {
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
  const doors = { ...rooms, flow, pictures, metrics, health, temporaryDir, version, log };
  const { faces, listen, close: closeFaces } = await openFaces(config, doors, started);

  let closing: Promise<void> | undefined;
  const close = () => {
    closing ??= closeFaces().then(() => started.endAll(log));
    return closing;
  };
  return { reader, accounts, faces, flow, firstKey, browser, listen, close };
}

/** Pages of versions that noted no owner are in the index, and nobody finds them. */
function tellUnshared(index: Pick<LocalIndex, 'stats'>, log: Pick<Log, 'warn'>): void {
  index.stats().then(
    ({ onlyAll: pages }) => {
      if (pages === 0) return;
      log.warn({ pages }, 'pages in the index are found with LECTERN_INDEX_SHARED=all only, until they are read again');
    },
    // Whoever searches it is told.
    () => {},
  );
}

const stateOf = ({ healthy }: { readonly healthy: boolean }): 'ok' | 'away' => (healthy ? 'ok' : 'away');

/** What a probe may show: where the browser lies and its process are nobody's business. */
const shownStatus = ({ version, sandboxed, pages, waiting, healthy }: PoolStatus) => ({
  version,
  sandboxed,
  pages,
  waiting,
  healthy,
});
