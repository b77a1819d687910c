/** Runs `lectern index`: creates the components needed for one run from the settings. */
import { createHash } from 'node:crypto';
import path from 'node:path';
import type { Config } from '#config.ts';
import { createFetch } from '#net/fetch/fetch.ts';
import { createGuard } from '#net/guard/guard.ts';
import { createRegion } from '#net/region.ts';
import { createRobots } from '#net/robots/robots.ts';
import { defaultUserAgent, type Reader } from '#reader/index.ts';
import type { Log } from '#telemetry/log.ts';
import type { LocalIndex } from '../local-index.ts';
import { type LocalIndexOptions, type OpeningIndex, openLocalIndex, startLocalIndex } from '../open.ts';
import { type FillOptions, type FillSummary, fillIndex } from './fill.ts';
import { openJournal } from './journal.ts';

type Settings = Pick<
  Config,
  | 'dataDir'
  | 'databaseUrl'
  | 'indexUrl'
  | 'indexMaxBytes'
  | 'indexShared'
  | 'cacheNoStore'
  | 'allowNetworks'
  | 'region'
  | 'euHosts'
  | 'userAgent'
>;

type IndexSettings = Pick<Settings, 'dataDir' | 'databaseUrl' | 'indexMaxBytes'> & Partial<Pick<Settings, 'indexUrl'>>;

/** Opens the index of an installation, in its data folder, its database or its search engine. */
export const openIndexOf = (settings: IndexSettings, more: IndexTools = {}): Promise<LocalIndex> =>
  openLocalIndex(optionsOf(settings, more));

/** Begins to open the index of an installation. */
export const startIndexOf = (settings: IndexSettings, more: IndexTools = {}): OpeningIndex =>
  startLocalIndex(optionsOf(settings, more));

type IndexTools = Pick<LocalIndexOptions, 'embedder' | 'log'>;

const optionsOf = (
  { dataDir, databaseUrl, indexUrl, indexMaxBytes }: IndexSettings,
  more: IndexTools,
): LocalIndexOptions => ({
  file: path.join(dataDir, 'index', 'index.db'),
  url: indexUrl ?? databaseUrl,
  maxBytes: indexMaxBytes,
  ...more,
});

export interface FillerTools {
  readonly index: LocalIndex;
  readonly reader: Reader;
  readonly log: Log;
}

/** Reads a source into the index. If a run was interrupted, starting it again resumes where it stopped. */
export async function fill(
  source: string,
  settings: Settings,
  { index, reader, log }: FillerTools,
  options: FillOptions,
): Promise<FillSummary> {
  const region = createRegion({ region: settings.region, euHosts: settings.euHosts, log });
  const fetch = createFetch({ guard: createGuard({ allow: settings.allowNetworks }), region });
  const name = createHash('sha256')
    .update(JSON.stringify([source, options.depth]))
    .digest('hex')
    .slice(0, 16);
  try {
    return await fillIndex(
      source,
      {
        index,
        reader,
        keepsNoStore: settings.cacheNoStore === 'ignore',
        shared: settings.indexShared,
        fetch,
        robots: createRobots({ fetch, userAgent: settings.userAgent ?? defaultUserAgent() }),
        journal: await openJournal(path.join(settings.dataDir, 'index', `filling-${name}.jsonl`)),
      },
      options,
    );
  } finally {
    await index.flush();
    await fetch.close();
  }
}
