/**
 * `lectern migrate`: migrates the databases before a server of this version starts. With `--to` or `--from`, moves an
 * installation between a data folder and PostgreSQL.
 */

import { type DataFlags, withDataFlags } from './accounts-module.ts';
import type { CliContext } from './context.ts';
import { CommandError, usageError } from './exit-codes.ts';
import { FlagCommand } from './flags.ts';
import { count, createProgress } from './progress.ts';
import { tableLines } from './table.ts';

interface MigrateFlags extends DataFlags {
  readonly dryRun?: boolean;
  readonly from?: string;
  readonly to?: string;
  readonly blobs?: string;
}

export function migrateCommand(context: CliContext): FlagCommand {
  const command = new FlagCommand('migrate')
    .description('Migrate the databases to this version.')
    .option('--dry-run', 'Show pending migrations without running them.')
    .option('--to <place>', 'Move this installation to a PostgreSQL database (postgres://…) or a data folder.')
    .option('--from <place>', 'Where to move from: a data folder or postgres://…; default: the data folder.')
    .option(
      '--blobs <url>',
      'With --to or --from: the bucket of cached pages and batch jobs (s3://…); default: LECTERN_BLOBS_URL.',
    );
  return withDataFlags(command).action((flags: MigrateFlags) => migrate(flags, context));
}

async function migrate(flags: MigrateFlags, context: CliContext): Promise<void> {
  if (flags.from !== undefined || flags.to !== undefined) return move(flags, context);
  if (flags.blobs !== undefined) throw usageError('--blobs needs --to or --from');
  const { dataDir, config, json, dryRun } = flags;
  const { readConfig } = await import('#config.ts');
  const { migrateAll, readMigrationStates } = await import('#app/migrations.ts');
  const place = readConfig({ environment: context.environment, flags: { dataDir, config } });
  const before = await readMigrationStates(place);
  const later = before.find(({ seen, known }) => seen > known);
  if (later) {
    const { module, seen, known } = later;
    throw new CommandError(
      'failed',
      `the tables of ${module} have version ${seen}, this program supports ${known}: use a newer version of Lectern`,
    );
  }
  if (!dryRun) await migrateAll(place);
  if (json) {
    context.print(
      JSON.stringify(
        before.map((state) => ({ ...state, done: !dryRun })),
        null,
        2,
      ),
    );
    return;
  }
  const rows = before.map(({ module, seen, known, due }) => [module, seen, known, due.join(', ') || '-']);
  for (const line of tableLines(['MODULE', 'FROM', 'TO', dryRun ? 'PENDING' : 'DONE'], rows, '')) context.print(line);
}

/** A move can be repeated after it was stopped: it continues where it was. */
async function move(flags: MigrateFlags, context: CliContext): Promise<void> {
  const { dataDir, config, json, dryRun } = flags;
  if (dryRun) throw usageError('--dry-run cannot be combined with --to or --from');
  const { readConfig } = await import('#config.ts');
  const { MoveRefusedError, moveInstallation } = await import('#app/move/move.ts');
  const { openConfiguredBlobs } = await import('#app/shared-blobs.ts');
  const { createLog } = await import('#telemetry/log.ts');
  const settings = readConfig({ environment: context.environment, flags: { dataDir, config } });
  const placeOf = (given: string | undefined) =>
    given !== undefined && /^postgres(?:ql)?:\/\//.test(given)
      ? { url: given }
      : { dataDir: given ?? settings.dataDir };
  const [from, to] = [placeOf(flags.from), placeOf(flags.to)];
  if ((from.url === undefined) === (to.url === undefined)) {
    throw usageError('one of --from and --to must be a database (postgres://…), and the other a data folder');
  }
  const blobsUrl = flags.blobs ?? settings.blobsUrl;
  const openBlobs = async () =>
    (await openConfiguredBlobs({ ...settings, blobsUrl, databaseUrl: from.url ?? to.url }, createLog('silent')))!;
  const progress = createProgress(context);
  try {
    const moved = await moveInstallation({
      from: { ...from, openBlobs },
      to,
      onProgress: (table, rows) => progress.show(`${table}: ${count(rows)} rows`),
    });
    progress.end();
    if (json) return context.print(JSON.stringify(moved, null, 2));
    const rows = moved.map(({ table, rows, checksum }) => [table, count(rows), checksum]);
    for (const line of tableLines(['TABLE', 'ROWS', 'CHECKSUM'], rows, '')) context.print(line);
    context.note('Moved and compared. The source is unchanged.');
  } catch (error) {
    progress.end();
    throw error instanceof MoveRefusedError ? new CommandError('failed', error.message) : error;
  }
}
