/** The accounts room for a command: the same store as the server's, by the same settings, also while it runs. */
import { Command, Option } from 'commander';
import type { AccountsModule } from '#accounts/index.ts';

export interface CommandContext {
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** A line of the answer. */
  readonly print: (line: string) => void;
  /** A line beside the answer, that no program should take for it. */
  readonly note: (line: string) => void;
  /** All that is given to the command as its input. */
  readonly readInput: () => Promise<string>;
}

/** What each of these commands can be told. */
export interface DataFlags {
  readonly dataDir?: string;
  readonly config?: string;
  readonly json?: boolean;
}

export const newCommand = (name: string, description: string): Command =>
  new Command(name).description(description).exitOverride();

/** Adds the flags that tell where the room is, and how it is answered. */
export const withDataFlags = <Given extends Command>(command: Given): Given =>
  command
    .addOption(new Option('--data-dir <dir>', 'The folder in which everything is kept. [LECTERN_DATA_DIR]'))
    .addOption(new Option('--config <file>', 'A YAML or JSON file of settings. [LECTERN_CONFIG]'))
    .option('--json', 'Answer in JSON.');

/** Opens the room for as long as the work takes. */
export async function withAccounts<T>(
  { environment }: CommandContext,
  { dataDir, config }: DataFlags,
  work: (room: AccountsModule) => Promise<T>,
): Promise<T> {
  const { openAccounts } = await import('#accounts/index.ts');
  const { readConfig } = await import('#config.ts');
  const settings = readConfig({ environment, flags: { dataDir, config } });
  const room = await openAccounts({
    dataDir: settings.dataDir,
    databaseUrl: settings.databaseUrl,
    usageKeepDays: settings.usageKeepDays,
  });
  try {
    return await work(room);
  } finally {
    await room.close();
  }
}

/** The value, or an Error that says that there is none of this id. */
export function requireFound<T>(value: T | undefined, what: string, id: string): T {
  if (value === undefined) throw new Error(`there is no ${what} ${id}`);
  return value;
}
