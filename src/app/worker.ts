/** A process that runs batch jobs and serves no API. It shares the database or the data folder with other servers. */
import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import { openAccounts } from '#accounts/index.ts';
import type { Config } from '#config.ts';
import { openModelHost } from '#models/index.ts';
import { createFetch } from '#net/fetch/fetch.ts';
import { createGuard } from '#net/guard/guard.ts';
import { createRegion } from '#net/region.ts';
import { createTrustedFetch } from '#net/trusted.ts';
import { countTokens, keepTokens, loadTokens } from '#reader/index.ts';
import type { Log } from '#telemetry/log.ts';
import { createBatch } from './batch.ts';
import { openBlockList } from './network.ts';

export interface WorkerProcess {
  /** Leaves unfinished jobs in the database for the next worker. */
  close(): Promise<void>;
}

export async function createWorker(config: Config, log: Log): Promise<WorkerProcess> {
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
    const batch = await createBatch(config, { accounts, modelHost, fetch, log });
    closers.push(() => batch.close());
    return { close };
  } catch (error) {
    await close();
    throw error;
  }
}
