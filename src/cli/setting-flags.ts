/** Settings as flags of the commands that run servers and workers. */
import { Command, Option } from 'commander';
import type { Config } from '#config.ts';
import { SETTING_FLAGS } from '#generated/cli-flags.ts';
import type { ServeContext } from './serve.ts';

/**
 * A command with a flag for each of these settings, by default for all. All others come from the environment and the
 * settings file.
 */
export function settingsCommand(name: string, names?: readonly string[]): Command {
  const command = new Command(name)
    .exitOverride()
    .addOption(new Option('--config <file>', 'Settings file, YAML or JSON. [LECTERN_CONFIG]'));
  for (const { flag, meaning, defaultText, variable } of SETTING_FLAGS.filter(
    (one) => names?.includes(one.name) ?? true,
  ))
    command.addOption(new Option(`${flag} <value>`, `${meaning} Default: ${defaultText}. [${variable}]`));
  return command;
}

/** Reads the settings, and names variables that are none. */
export async function readSettings(
  flags: Record<string, unknown>,
  { environment, print }: Pick<ServeContext, 'environment' | 'print'>,
): Promise<Config> {
  // Imported lazily, so that `--help` is fast.
  const { readConfig, unknownVariables } = await import('#config.ts');
  const config = readConfig({ environment, flags });
  for (const warning of unknownVariables(environment)) print(`lectern: warning: ${warning}`);
  return config;
}
