/** Opens the accounts module for a command, with the same store and settings as the server, which may be running. */
import { Command, Option } from 'commander';
import type { AccountsModule } from '#accounts/index.ts';

export interface CommandContext {
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Prints a line of the result. */
  readonly print: (line: string) => void;
  /** Prints a line to standard error. */
  readonly note: (line: string) => void;
  /** Reads standard input to its end. */
  readonly readInput: () => Promise<string>;
}

/** Flags of every command that works on local data. */
export interface DataFlags {
  readonly dataDir?: string;
  readonly config?: string;
  readonly json?: boolean;
}

export const newCommand = (name: string, description: string): Command =>
  new Command(name).description(description).exitOverride();

/** Adds the flags for the data folder, the settings file and JSON output. */
export const withDataFlags = <Given extends Command>(command: Given): Given =>
  command
    .addOption(new Option('--data-dir <dir>', 'Data folder. [LECTERN_DATA_DIR]'))
    .addOption(new Option('--config <file>', 'Settings file, YAML or JSON. [LECTERN_CONFIG]'))
    .option('--json', 'Print JSON.');

/** Opens the accounts module, runs `work` and closes the module again. */
export async function withAccounts<T>(
  { environment }: CommandContext,
  { dataDir, config }: DataFlags,
  work: (module: AccountsModule) => Promise<T>,
): Promise<T> {
  const { openAccounts } = await import('#accounts/index.ts');
  const { readConfig } = await import('#config.ts');
  const settings = readConfig({ environment, flags: { dataDir, config } });
  const module = await openAccounts({
    dataDir: settings.dataDir,
    databaseUrl: settings.databaseUrl,
    usageKeepDays: settings.usageKeepDays,
  });
  try {
    return await work(module);
  } finally {
    await module.close();
  }
}

/** Returns the value. Throws an Error that names the id if the value is missing. */
export function requireFound<T>(value: T | undefined, what: string, id: string): T {
  if (value === undefined) throw new Error(`no such ${what}: ${id}`);
  return value;
}
