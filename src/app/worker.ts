/** A process that runs batch jobs and serves no API, only its metrics. It shares the database or the data folder with other servers. */
import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import { openAccounts } from '#accounts/index.ts';
import { createMetricsServer } from '#api/metrics.ts';
import type { Config } from '#config.ts';
import { openModelHost } from '#models/index.ts';
import { createFetch } from '#net/fetch/fetch.ts';
import { createGuard } from '#net/guard/guard.ts';
import { createRegion } from '#net/region.ts';
import { createTrustedFetch } from '#net/trusted.ts';
import { countTokens, keepTokens, loadTokens } from '#reader/index.ts';
import type { Log } from '#telemetry/log.ts';
import { createMetrics, type Metrics } from '#telemetry/metrics.ts';
import { createBatch } from './batch.ts';
import { formatUrl, openPort } from './listen.ts';
import { createObservers, registerJobMetrics } from './metrics.ts';
import { openBlockList } from './network.ts';

export interface WorkerProcess {
  /** URL of the port with `/metrics`, `/live` and `/ready`; `undefined` if it is not configured. */
  readonly metricsUrl: string | undefined;
  /** Leaves unfinished jobs in the database for the next worker. */
  close(): Promise<void>;
}

export async function createWorker(config: Config, version: string, log: Log): Promise<WorkerProcess> {
  const closers: (() => Promise<void>)[] = [];
  const close = async () => {
    for (const end of closers.splice(0).toReversed()) await end();
  };
  try {
    await mkdir(config.dataDir, { recursive: true, mode: 0o700 });
    const { dataDir, databaseUrl, usageKeepDays } = config;
    const accounts = await openAccounts({ dataDir, databaseUrl, usageKeepDays, log });
    closers.push(() => accounts.close());
    const regionRules = { region: config.region, euHosts: config.euHosts, log };
    const region = createRegion(regionRules);
    const blockList = await openBlockList(config, log);
    if (blockList) closers.push(() => blockList.close());
    const fetch = createFetch({ guard: createGuard({ allow: config.allowNetworks, blockList }), region });
    closers.push(() => fetch.close());
    const trusted = createTrustedFetch(regionRules);
    closers.push(() => trusted.close());
    const tokens = { load: loadTokens, count: countTokens, keep: keepTokens };
    const dir = path.join(dataDir, 'models');
    const modelHost = await openModelHost({ ...config, modelsWarm: [] }, { dir, fetch: trusted, tokens, log });
    closers.push(() => modelHost.close());
    const metrics = createMetrics();
    const observe = createObservers(metrics);
    const onRun = observe.onJobRun('batch');
    const batch = await createBatch(config, { accounts, modelHost, fetch, onRun, log });
    closers.push(() => batch.close());
    metrics.read('lectern_build_info', () => [[[version, process.versions.node], 1]]);
    metrics.read('lectern_store_healthy', () => [[['accounts'], accounts.healthy ? 1 : 0]]);
    registerJobMetrics(metrics, { batch });
    let isDraining = false;
    const metricsServer = await openMetrics(config, metrics, () => !isDraining && batch.healthy);
    // Closed last, so that `/ready` says that the process is draining.
    if (metricsServer) closers.unshift(metricsServer.close);
    return {
      metricsUrl: metricsServer?.url,
      close() {
        isDraining = true;
        return close();
      },
    };
  } catch (error) {
    await close();
    throw error;
  }
}

async function openMetrics({ metricsPort, metricsHost }: Config, metrics: Metrics, ready: () => boolean) {
  if (metricsPort === undefined) return undefined;
  await metrics.watchProcess();
  const server = createMetricsServer(metrics, ready);
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(metricsPort, metricsHost, resolve);
  });
  return {
    url: formatUrl(metricsHost, openPort(server)),
    async close() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      server.closeAllConnections();
      await closed;
    },
  };
}
