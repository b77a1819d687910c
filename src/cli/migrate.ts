/** `lectern migrate`: the tables of the databases, brought to this version before a server is. */
import type { CliContext } from './context.ts';
import { FlagCommand } from './flags.ts';
import { type RoomFlags, withRoomFlags } from './room.ts';

interface MigrateFlags extends RoomFlags {
  readonly dryRun?: boolean;
}

export function migrateCommand(context: CliContext): FlagCommand {
  const command = new FlagCommand('migrate')
    .description('Bring the tables of the databases to this version.')
    .option('--dry-run', 'Only tell what would be done.');
  return withRoomFlags(command).action(async (_: MigrateFlags) => context.print(''));
}
