/** `lectern index`: adds pages to the local search index, prunes and clears it, and shows its statistics. */
import { rm } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import path from 'node:path';
import type { Command } from 'commander';
import type { Config } from '#config.ts';
import type { FillProgress, FillSummary, IndexStats, LocalIndex } from '#search/index.ts';
import { type CommandContext, type DataFlags, newCommand, withDataFlags } from './accounts-module.ts';
import { dataDirOf } from './client.ts';
import type { CliContext } from './context.ts';
import { CommandError, usageError } from './exit-codes.ts';
import { parseInteger } from './numbers.ts';
import { createProgress } from './progress.ts';

interface IndexFlags extends DataFlags {
  readonly stats?: boolean;
  readonly prune?: number | true;
  readonly clear?: boolean;
  readonly depth: number;
  readonly maxPages: number;
  readonly delay: number;
}

export interface IndexContext extends CommandContext, Pick<CliContext, 'version' | 'signal' | 'rewrite' | 'width'> {}

export function indexCommand(context: IndexContext): Command {
  const { environment } = context;
  return withDataFlags(newCommand('index', 'Read pages or files into the local search index.'))
    .argument('[source]', 'URL of a page or sitemap, or a file or folder')
    .option('--depth <links>', 'Also read pages of the same host up to this many links away.', parseInteger, 0)
    .option('--max-pages <count>', 'Maximum number of pages.', parseInteger, 10_000)
    .option('--delay <ms>', 'Delay between reads from the same host, in ms.', parseInteger, 1_000)
    .option('--stats', 'Show statistics of the index.')
    .option(
      '--prune [bytes]',
      'Remove the oldest pages until the index is no larger than this. Default: the configured maximum.',
      parseInteger,
    )
    .option('--clear', 'Remove all pages.')
    .action(async (source: string | undefined, flags: IndexFlags) => {
      // Imported lazily, so that the help starts faster.
      const [{ readConfig }, { openIndexOf }] = await Promise.all([import('#config.ts'), import('#search/index.ts')]);
      const place = { dataDir: dataDirOf(context, flags), config: flags.config };
      const config = readConfig({ environment, flags: place });
      if (source === undefined && !flags.stats && !flags.prune && !flags.clear)
        throw usageError('nothing to do: give a source, --stats, --prune or --clear');
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
  const [{ createPlainReader }, { processTemporaryFolder }, { fill }, { createLog }] = await Promise.all([
    import('#app/reader-only.ts'),
    import('#app/temporary-folder.ts'),
    import('#search/index.ts'),
    import('#telemetry/log.ts'),
  ]);
  const log = createLog('warn', 'stderr');
  await processTemporaryFolder();
  const progress = createProgress(context);
  const { reader, close } = await createPlainReader({
    config: await isolatedConfig(config),
    version: context.version,
    log,
  });
  try {
    return await fill(
      source,
      config,
      { index, reader, log },
      {
        depth: flags.depth,
        maxPages: flags.maxPages,
        delayMs: flags.delay,
        agent: 'Lectern',
        signal: context.signal,
        onProgress: (done) => (done.reason ? progress.note : progress.show)(progressLine(done)),
      },
    );
  } catch (error) {
    if (!context.signal.aborted) throw error;
    throw new CommandError('interrupted', 'stopped: run the same command again to continue');
  } finally {
    progress.end();
    await close();
    await rm(scratchDirOf(config), { recursive: true, force: true });
  }
}

const scratchDirOf = ({ dataDir }: Config) => path.join(dataDir, 'index', `reading-${process.pid}`);

/** Settings of a reader that shares no files with a server on the same data folder. */
async function isolatedConfig(config: Config): Promise<Config> {
  const { chosenBrowser } = await import('#app/browser.ts');
  return {
    ...config,
    browser: chosenBrowser(config)?.path ?? 'none',
    // The main thread and the index's thread have as much to do as one that renders.
    workers: config.workers ?? Math.max(1, availableParallelism() - 1),
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
  if (pruned !== undefined) print(`${pruned} pages removed`);
  const megabytes = Math.ceil(stats.bytes / 1_000_000).toLocaleString('en-US');
  print(`${stats.pages} pages, ${stats.passages} passages, ${stats.vectors} vectors, about ${megabytes} MB`);
  if (stats.onlyAll > 0 && config.indexShared !== 'all') {
    print(`${stats.onlyAll} of these pages are found only with LECTERN_INDEX_SHARED=all, until they are read again`);
  }
  const languages = Object.entries(stats.languages).map(([language, count]) => `${language} ${count}`);
  if (languages.length > 0) print(`languages: ${languages.join(', ')}`);
  if (stats.oldestAt !== undefined) print(`oldest page: ${new Date(stats.oldestAt).toISOString()}`);
}
