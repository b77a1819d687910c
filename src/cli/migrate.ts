/** `lectern migrate`: the tables of the databases, brought to this version before a server is. */

import { type DataFlags, withDataFlags } from './accounts-module.ts';
import type { CliContext } from './context.ts';
import { CommandError } from './exit-codes.ts';
import { FlagCommand } from './flags.ts';
import { tableLines } from './table.ts';

interface MigrateFlags extends DataFlags {
  readonly dryRun?: boolean;
}

export function migrateCommand(context: CliContext): FlagCommand {
  const command = new FlagCommand('migrate')
    .description('Bring the tables of the databases to this version.')
    .option('--dry-run', 'Only tell what would be done.');
  return withDataFlags(command).action((flags: MigrateFlags) => migrate(flags, context));
}

async function migrate({ dataDir, config, json, dryRun }: MigrateFlags, context: CliContext): Promise<void> {
  const { readConfig } = await import('#config.ts');
  const { migrateAll, migrationState } = await import('#app/migrations.ts');
  const place = readConfig({ environment: context.environment, flags: { dataDir, config } });
  const before = await migrationState(place);
  const later = before.find(({ seen, known }) => seen > known);
  if (later) {
    const { room, seen, known } = later;
    throw new CommandError(
      'failed',
      `the tables of ${room} are of version ${seen}, this program knows ${known}: take a newer one`,
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
  const rows = before.map(({ room, seen, known, due }) => [room, seen, known, due.join(', ') || '-']);
  for (const line of tableLines(['ROOM', 'WAS', 'IS', dryRun ? 'DUE' : 'DONE'], rows, '')) context.print(line);
}
