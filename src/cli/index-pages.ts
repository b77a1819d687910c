/** `lectern index`: fills the local index in bulk, tells what is in it, prunes and empties it. */
import { rm } from 'node:fs/promises';
import path from 'node:path';
import type { Command } from 'commander';
import type { Config } from '#config.ts';
import type { FillProgress, FillSummary, IndexStats, LocalIndex } from '#search/index.ts';
import { type CommandContext, type DataFlags, newCommand, withDataFlags } from './accounts-module.ts';
import { dataDirOf } from './client.ts';
import { CommandError, usageError } from './exit-codes.ts';
import { parseInteger } from './numbers.ts';

interface IndexFlags extends DataFlags {
  readonly stats?: boolean;
  readonly prune?: number | true;
  readonly clear?: boolean;
  readonly depth: number;
  readonly maxPages: number;
  readonly delay: number;
}

export interface IndexContext extends CommandContext {
  readonly version: string;
  /** Aborted when the process is told to end. */
  readonly signal: AbortSignal;
}

export function indexCommand(context: IndexContext): Command {
  const { environment } = context;
  return withDataFlags(
    newCommand('index', 'Read pages or files into the index that is searched without a search service.'),
  )
    .argument('[source]', 'the address of a page or a sitemap, or a file or folder')
    .option('--depth <links>', 'Also read pages of the same host, so many links away.', parseInteger, 0)
    .option('--max-pages <count>', 'Read so many pages at most.', parseInteger, 10_000)
    .option('--delay <ms>', 'Wait so long between two reads of a host.', parseInteger, 1_000)
    .option('--stats', 'Tell what is in the index.')
    .option(
      '--prune [bytes]',
      'Remove the pages read longest ago until so much is taken, else as the settings say.',
      parseInteger,
    )
    .option('--clear', 'Remove everything.')
    .action(async (source: string | undefined, flags: IndexFlags) => {
      // Its help is faster without all of it.
      const [{ readConfig }, { openIndexOf }] = await Promise.all([import('#config.ts'), import('#search/index.ts')]);
      const place = { dataDir: dataDirOf(context, flags), config: flags.config };
      const config = readConfig({ environment, flags: place });
      if (source === undefined && !flags.stats && !flags.prune && !flags.clear)
        throw usageError('say what is to be read, or --stats, --prune or --clear');
      const index = await openIndexOf(config);
      try {
        if (flags.clear) await index.clear();
        const pruned = flags.prune === undefined ? undefined : await index.prune(bytesOf(flags.prune));
        const filled = source === undefined ? undefined : await fillFrom(source, { config, index, flags, context });
        printResult(await index.stats(), { pruned, filled, flags, context, config });
      } finally {
        await index.close();
      }
    });
}

const bytesOf = (given: number | true): number | undefined => (given === true ? undefined : given);

interface FillInput {
  readonly config: Config;
  readonly index: LocalIndex;
  readonly flags: IndexFlags;
  readonly context: IndexContext;
}

async function fillFrom(source: string, { config, index, flags, context }: FillInput): Promise<FillSummary> {
  const [{ createApp }, { ownTemporary }, { fill }, { createLog }] = await Promise.all([
    import('#app.ts'),
    import('#app/own-temporary.ts'),
    import('#search/index.ts'),
    import('#telemetry/log.ts'),
  ]);
  const log = createLog('warn', 'stderr');
  await ownTemporary();
  const app = await createApp({ config: await isolatedConfig(config), version: context.version, log });
  try {
    return await fill(
      source,
      config,
      { index, reader: app.reader, log },
      {
        depth: flags.depth,
        maxPages: flags.maxPages,
        delayMs: flags.delay,
        agent: 'Lectern',
        signal: context.signal,
        onProgress: (progress) => context.note(progressLine(progress)),
      },
    );
  } catch (error) {
    if (!context.signal.aborted) throw error;
    throw new CommandError('interrupted', 'stopped: the same command goes on where this one was');
  } finally {
    await app.close();
    await rm(scratchDirOf(config), { recursive: true, force: true });
  }
}

const scratchDirOf = ({ dataDir }: Config) => path.join(dataDir, 'index', `reading-${process.pid}`);

/** A reader beside the one that may be serving from the same data folder: it shares no file with that one. */
async function isolatedConfig(config: Config): Promise<Config> {
  const { findBrowser } = await import('#reader/index.ts');
  return {
    ...config,
    browser: findBrowser({ configured: config.browser, dataDir: config.dataDir })?.path ?? 'none',
    dataDir: scratchDirOf(config),
    cacheMaxBytes: 0,
    indexMaxBytes: 0,
    auth: 'off',
    adminSecret: undefined,
    databaseUrl: undefined,
    redisUrl: undefined,
    limitStore: 'memory',
    modelsWarm: [],
  };
}

const progressLine = ({ url, outcome, reason, done, known }: FillProgress): string =>
  `${done}/${known} ${outcome} ${url}${reason ? ` (${reason})` : ''}`;

const RESTRICTED = 'found with LECTERN_INDEX_SHARED=all only, until they are read again';

interface IndexResult {
  readonly pruned: number | undefined;
  readonly filled: FillSummary | undefined;
  readonly flags: IndexFlags;
  readonly context: IndexContext;
  readonly config: Config;
}

function printResult(stats: IndexStats, { pruned, filled, flags, config, context: { print } }: IndexResult): void {
  if (flags.json) {
    print(JSON.stringify({ ...(filled && { filled }), ...(pruned !== undefined && { pruned }), stats }, null, 2));
    return;
  }
  if (filled) {
    const counts = Object.entries(filled).filter(([, count]) => count > 0);
    print(
      counts.map(([name, count]) => `${count} ${name === 'before' ? 'done before' : name}`).join(', ') ||
        'nothing to read',
    );
  }
  if (pruned !== undefined) print(`${pruned} pages were removed`);
  const megabytes = Math.ceil(stats.bytes / 1_000_000).toLocaleString('en-US');
  print(`${stats.pages} pages, ${stats.passages} passages, ${stats.vectors} vectors, about ${megabytes} MB`);
  if (stats.onlyAll > 0 && config.indexShared !== 'all') print(`${stats.onlyAll} of these pages: ${RESTRICTED}`);
  const languages = Object.entries(stats.languages).map(([language, count]) => `${language} ${count}`);
  if (languages.length > 0) print(`languages: ${languages.join(', ')}`);
  if (stats.oldestAt !== undefined) print(`read since ${new Date(stats.oldestAt).toISOString()}`);
}
