/** `lectern browser`: installs, shows and removes the browser that renders pages. */
import type { Command } from 'commander';
import { newCommand } from './accounts-module.ts';
import { dataDirOf } from './client.ts';
import type { CliContext } from './context.ts';
import { CommandError } from './exit-codes.ts';
import { Option } from './flags.ts';
import { createProgress } from './progress.ts';

interface PlaceFlags {
  readonly dataDir?: string;
}

interface InstallFlags extends PlaceFlags {
  readonly force?: boolean;
}

type Context = Pick<CliContext, 'environment' | 'print' | 'note' | 'rewrite' | 'width' | 'signal'>;

export const GET_A_BROWSER = '`lectern browser install` gets one';

export function browserCommand(context: Context): Command {
  const browser = newCommand('browser', 'Install, show and remove the browser that renders pages.');
  const add = (name: string, description: string) =>
    browser
      .command(name)
      .description(description)
      .addOption(new Option('--data-dir <dir>', 'Data folder; the folder of this user if omitted. [LECTERN_DATA_DIR]'));
  add('install', 'Download Chromium, unless there is a browser.')
    .option('--force', 'Download it even if there is a browser.')
    .action((flags: InstallFlags) => install(context, flags));
  add('status', 'Show which browser is used.').action((flags: PlaceFlags) => showStatus(context, flags));
  add('remove', 'Remove the downloaded browser.').action((flags: PlaceFlags) => remove(context, flags));
  return browser;
}

const reader = () => import('#reader/index.ts');

async function install(context: Context, flags: InstallFlags): Promise<void> {
  const found = await find(context, flags);
  if (found && !flags.force) return context.print(`${found.path} (${found.source})`);
  await installInto(context, await folderOf(context, flags));
  await showStatus(context, flags);
}

/** Installs the browser and shows the progress. Throws a CommandError. */
export async function installInto(
  { note, rewrite, width, signal }: Pick<CliContext, 'note' | 'rewrite' | 'width' | 'signal'>,
  folder: string,
): Promise<void> {
  const { installBrowser } = await reader();
  const progress = createProgress({ note, rewrite, width });
  const log = (line: string) => progress.note(`lectern: ${line}`);
  const onBytes = (bytes: number) => progress.show(`${Math.round(bytes / 1_000_000)} MB`);
  try {
    await installBrowser({ folder, log, onBytes, signal });
  } catch (error) {
    if (signal.aborted) throw error;
    const advice = 'install Chromium or Chrome, or set LECTERN_BROWSER to its path';
    throw new CommandError('failed', `no browser was installed: ${(error as Error).message}; ${advice}`);
  } finally {
    progress.end();
  }
}

async function showStatus(context: Context, flags: PlaceFlags): Promise<void> {
  const { LECTERN_BROWSER: configured } = context.environment;
  const found = await find(context, flags);
  if (found) return context.print(`${found.path} (${found.source})`);
  if (configured === 'none') throw new CommandError('failed', 'no browser is used: LECTERN_BROWSER=none');
  if (configured) throw new CommandError('failed', `LECTERN_BROWSER: ${configured} cannot be run`);
  throw new CommandError('failed', `no browser was found: ${GET_A_BROWSER}`);
}

async function remove(context: Context, flags: PlaceFlags): Promise<void> {
  const { removeBrowser } = await reader();
  const folder = await folderOf(context, flags);
  context.print((await removeBrowser(folder)) ? `${folder} removed` : `${folder} contains no browser`);
}

async function find({ environment }: Pick<Context, 'environment'>, flags: PlaceFlags) {
  const { findBrowser } = await reader();
  const dataDir = flags.dataDir ?? environment.LECTERN_DATA_DIR ?? dataDirOf({ environment }, {}) ?? '.lectern';
  return findBrowser({ configured: environment.LECTERN_BROWSER || undefined, dataDir, environment });
}

/** The folder of this user, which every data folder uses, unless the data folder is given. */
async function folderOf({ environment }: Pick<Context, 'environment'>, { dataDir }: PlaceFlags): Promise<string> {
  const given = dataDir ?? environment.LECTERN_DATA_DIR;
  const [{ userBrowserFolder }, { default: path }] = await Promise.all([reader(), import('node:path')]);
  return given ? path.resolve(given, 'browser') : userBrowserFolder(environment);
}
