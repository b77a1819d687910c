/** `lectern migrate`: migrates the databases before a server of this version starts. */

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
    .description('Migrate the databases to this version.')
    .option('--dry-run', 'Show pending migrations without running them.');
  return withDataFlags(command).action((flags: MigrateFlags) => migrate(flags, context));
}

async function migrate({ dataDir, config, json, dryRun }: MigrateFlags, context: CliContext): Promise<void> {
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
