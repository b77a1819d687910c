/**
 * A process that runs jobs and answers requests of servers. It serves no API, only its metrics. It shares the database or
 * the data folder with other servers, and a queue of requests in Redis.
 */
import { createMetricsServer } from '#api/metrics.ts';
import type { Config } from '#config.ts';
import type { Log } from '#telemetry/log.ts';
import type { Metrics } from '#telemetry/metrics.ts';
import { createBatch } from './batch.ts';
import { CloseStack } from './close-stack.ts';
import { createCrawl } from './crawl.ts';
import { type Foundation, openFoundation } from './foundation.ts';
import { startIndex } from './indexing-reader.ts';
import { formatUrl, openPort } from './listen.ts';
import { registerBrowserMetrics, registerJobMetrics, registerRemoteMetrics } from './metrics.ts';
import { openModelModule } from './model-module.ts';
import { createIndexEmbedder } from './model-tools.ts';
import { openReaderModule } from './reader-module.ts';
import { openWorkerQueue } from './remote-work.ts';

export interface WorkerProcess {
  /** URL of the port with `/metrics`, `/live` and `/ready`; `undefined` if it is not configured. */
  readonly metricsUrl: string | undefined;
  /** Leaves unfinished jobs in the database for the next worker, and finishes requests within the drain time. */
  close(): Promise<void>;
}

export async function createWorker(given: Config, version: string, log: Log): Promise<WorkerProcess> {
  const config: Config = {
    ...given,
    // A worker that runs jobs only loads a model for the first job that needs it.
    modelsWarm: given.work.includes('embed') ? given.modelsWarm : [],
    // A worker may send other kinds of work to other workers.
    remoteWork: given.remoteWork.filter((kind) => !given.work.includes(kind)),
  };
  const resources = new CloseStack();
  let isDraining = false;
  try {
    const foundation = await openFoundation({ config, version, log }, resources);
    const { metrics, accounts, network, observe, sharedBlobs } = foundation;
    let isReady = () => true;
    // Opened first and closed last, so that `/ready` says that the process is draining.
    const metricsUrl = await openMetrics(config, { metrics, ready: () => !isDraining && isReady() }, resources);
    const modelHost = resources.use(await openModelModule(config, foundation, log));
    const parts = { accounts, modelHost, sharedBlobs, fetch: network.fetch, log };
    const batch = config.work.includes('batch')
      ? resources.use(await createBatch(config, { ...parts, onRun: observe.onJobRun('batch') }))
      : undefined;
    const crawl = config.work.includes('crawl')
      ? await openCrawls(config, { foundation, modelHost, version, log }, resources)
      : undefined;
    const requests = await openWorkerQueue(config, { foundation, modelHost, log }, resources);
    isReady = () => [accounts, batch, crawl, requests].every((part) => part?.healthy ?? true);
    metrics.read('lectern_build_info', () => [[[version, process.versions.node], 1]]);
    metrics.read('lectern_store_healthy', () => [[['accounts'], accounts.healthy ? 1 : 0]]);
    registerJobMetrics(metrics, { batch, crawl });
    if (requests) registerRemoteMetrics(metrics, requests);
    return {
      metricsUrl,
      close() {
        isDraining = true;
        return resources.closeAll(log);
      },
    };
  } catch (error) {
    await resources.closeAll(log);
    throw error;
  }
}

interface CrawlWorkerParts {
  readonly foundation: Foundation;
  readonly modelHost: Awaited<ReturnType<typeof openModelModule>>;
  readonly version: string;
  readonly log: Log;
}

/** Crawls with the same reader as a server, which also adds pages to the local index. */
async function openCrawls(
  config: Config,
  { foundation, modelHost, version, log }: CrawlWorkerParts,
  resources: CloseStack,
) {
  const { network, metrics, accounts, observe } = foundation;
  const { onCacheRead, onBlocked } = observe;
  const readerParts = { ...foundation, version, log, onCacheRead, onBlocked };
  const { reader: bareReader, shared } = await openReaderModule(config, readerParts, resources);
  const { pool } = shared;
  if (pool) registerBrowserMetrics(metrics, () => pool.status());
  const embedder = await createIndexEmbedder(modelHost, config.searchEmbedder);
  const { reader, opened } = startIndex(config, { embedder, bareReader, log }, resources);
  await opened;
  const { robots, fetch } = network;
  const onRun = observe.onJobRun('crawl');
  return resources.use(await createCrawl(config, { accounts, reader, robots, fetch, onRun, log }));
}

interface MetricsParts {
  readonly metrics: Metrics;
  readonly ready: () => boolean;
}

/** Opens the port of the metrics, if one is configured, and returns its URL. */
async function openMetrics(
  { metricsPort, metricsHost }: Config,
  { metrics, ready }: MetricsParts,
  resources: CloseStack,
): Promise<string | undefined> {
  if (metricsPort === undefined) return undefined;
  await metrics.watchProcess();
  const server = createMetricsServer(metrics, ready);
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(metricsPort, metricsHost, resolve);
  });
  resources.defer(async () => {
    const closed = new Promise<void>((resolve) => server.close(() => resolve()));
    server.closeAllConnections();
    await closed;
  });
  return formatUrl(metricsHost, openPort(server));
}
