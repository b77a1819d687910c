/**
 * The whole server, wired by hand: each room is built once, in order, and closed in reverse. What belongs to one part is
 * opened in a file of src/app: the ways out, reading, the doors.
 */
import { mkdir, rm } from 'node:fs/promises';
import path from 'node:path';
import { type AccountsRoom, createGate, openAccounts } from '#accounts/index.ts';
import { createGatekeeper } from '#api/gatekeeper.ts';
import type { BrowserHealth } from '#api/health.ts';
import { createBatch } from '#app/batch.ts';
import { createCollections } from '#app/collections.ts';
import { createCrawl } from '#app/crawl.ts';
import { openFaces, type Place, type ServerFace } from '#app/faces.ts';
import { type FlowFace, openFlowFace } from '#app/flow.ts';
import { observers, readRooms } from '#app/metrics.ts';
import { indexEmbedder, passageReranker } from '#app/model-tools.ts';
import { openNetwork } from '#app/network.ts';
import { openReading } from '#app/reading.ts';
import { Started } from '#app/started.ts';
import { openServerFolder } from '#concurrency/programs.ts';
import type { Config } from '#config.ts';
import { createDocuments } from '#documents/documents.ts';
import { createLibreOffice } from '#documents/office/libreoffice.ts';
import type { Face } from '#http/server.ts';
import { createCompletions, createModels, createOcr, modelNames, modelsDir, openModelHost } from '#models/index.ts';
import type { Lookup } from '#net/dns.ts';
import { plansWith } from '#plans.ts';
import { countTokens, keepTokens, loadTokens, type PoolStatus, type Reader } from '#reader/index.ts';
import { openIndexOf, openSearch, rememberingReader } from '#search/index.ts';
import { openCounters } from '#storage/counters/open.ts';
import { DatabaseAway } from '#storage/database/away.ts';
import { openPictures } from '#storage/pictures.ts';
import type { Log } from '#telemetry/log.ts';
import { createMetrics } from '#telemetry/metrics.ts';

export type { Place } from '#app/faces.ts';

export interface App {
  readonly reader: Reader;
  readonly accounts: AccountsRoom;
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

export interface AppOptions {
  readonly config: Config;
  readonly version: string;
  readonly log: Log;
  /** What the file of a flow may refer to. */
  readonly environment?: Readonly<Record<string, string | undefined>>;
  /** Who tells the addresses of names that callers chose; the name servers of the machine unless given. */
  readonly lookup?: Lookup | undefined;
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
  const { dataDir, databaseUrl, redisUrl, userAgent } = config;
  await mkdir(dataDir, { recursive: true, mode: 0o700 });
  // Left by a server that was killed: nothing in it outlives a start.
  const temporaryDir = await openServerFolder(path.join(dataDir, 'tmp'));
  started.onEnd(() => rm(temporaryDir, { recursive: true, force: true }));

  const metrics = createMetrics();
  const observe = observers(metrics);
  const plans = plansWith(config.plans);
  const accounts = started.keep(
    await openAccounts({
      dataDir,
      databaseUrl,
      keyGraceMs: config.keyGraceS * 1000,
      usageKeepDays: config.usageKeepDays,
      log,
    }),
  );
  const firstKey = config.auth === 'on' ? await firstKeyOf(accounts, log) : undefined;
  const limits = { store: config.limitStore, redisUrl, databaseUrl, file: path.join(dataDir, 'limits.db') };
  const counters = started.keep(await openCounters(limits, { log }));
  const gate = createGate({
    ...accounts,
    counters,
    plans,
    auth: config.auth,
    keylessRpm: config.keylessRpm === 'none' ? undefined : config.keylessRpm,
    keylessFeatures: config.keylessFeatures,
    refusedRpm: config.refusedRpm,
  });
  const gatekeeper = createGatekeeper(gate, { onSpent: observe.onSpent });
  const pictures = started.keep(await openPictures(dataDir));

  const network = await openNetwork(config, { lookup, version, log }, started);
  const { fetch, trusted, robots, ownNames } = network;
  const documents = started.keep(
    createDocuments({
      processes: config.documentWorkers,
      memoryMb: config.documentMemoryMb,
      timeoutMs: config.documentTimeoutMs,
      libreoffice: createLibreOffice({ program: config.libreoffice, temporaryDir }),
    }),
  );
  const ocr = createOcr({
    tesseract: config.tesseract,
    modelDir: config.ocrModelDir,
    languages: config.ocrLanguages.length ? config.ocrLanguages : ['eng'],
    temporaryDir,
    timeoutMs: config.documentTimeoutMs,
  });
  if (ocr) started.keep(ocr);

  const models = createModels(config, { fetch: trusted });
  const tokens = { load: loadTokens, count: countTokens, keep: keepTokens };
  const modelHost = started.keep(
    await openModelHost(config, {
      media: { fetch, documents, ocr, temporaryDir },
      dir: modelsDir(dataDir),
      fetch: trusted,
      tokens,
      log,
      onBatch: observe.onBatch,
    }),
  );
  const completions = createCompletions({
    ocr,
    models,
    names: modelNames(config),
    ocrPrompt: config.ocrPrompt,
    documents,
    fetch,
    temporaryDir,
    tokens,
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
  const reader = index
    ? rememberingReader(bareReader, { index, keepsNoStore: config.cacheNoStore === 'ignore', log })
    : bareReader;
  const crawl = started.keep(await createCrawl(config, { accounts, reader, robots, fetch, log }));
  const { onAsked } = observe;
  const searchParts = { reader, trusted, fetch, fitPicture, index, embedder, rerank, version, log, onAsked };
  const search = started.keep(await openSearch(config, searchParts));

  const collections = started.keep(
    createCollections({
      dir: path.join(dataDir, 'collections'),
      maxBytes: config.flowIndexMaxBytes,
      embedder,
      log,
    }),
  );
  const flowParts = { reader, modelHost, ocr, collections, userAgent, ownNames, version, log, environment };
  const flow = await openFlowFace(config, { ...flowParts, observe: observe.flow });
  started.onEnd(() => flow.close(0));

  readRooms(metrics, {
    ...{ version, accounts, counters, pool, renderer, documents, batch, crawl },
    models: modelHost.models,
  });
  const browser = (): BrowserHealth =>
    pool ? { available: true, ...shownStatus(pool.status()) } : { available: false };
  const health = {
    version,
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

const stateOf = ({ healthy }: { readonly healthy: boolean }): 'ok' | 'away' => (healthy ? 'ok' : 'away');

/** The key of a new installation. A database that is away is asked by whoever needs it. */
async function firstKeyOf({ accounts }: AccountsRoom, log: Log): Promise<string | undefined> {
  try {
    if (!(await accounts.empty())) return undefined;
    const { id } = await accounts.defaultAccount();
    return (await accounts.mintKey({ accountId: id, name: 'first key' })).key;
  } catch (error) {
    if (!(error instanceof DatabaseAway)) throw error;
    log.warn({ err: error }, 'the database is away: keys are verified when it is back');
    return undefined;
  }
}

/** What a probe may show: where the browser lies and its process are nobody's business. */
const shownStatus = ({ version, sandboxed, pages, waiting, healthy }: PoolStatus) => ({
  version,
  sandboxed,
  pages,
  waiting,
  healthy,
});
