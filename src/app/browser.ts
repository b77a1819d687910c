/** The browser that the settings select. */
import { type Config, ConfigError } from '#config.ts';
import { findBrowser } from '#reader/index.ts';

/** Returns null if there is none. Throws ConfigError if the configured browser cannot be run. */
export function chosenBrowser({ browser: configured, dataDir }: Pick<Config, 'browser' | 'dataDir'>) {
  const found = findBrowser({ configured, dataDir });
  if (!found && configured !== undefined && configured !== 'none')
    throw new ConfigError(
      `LECTERN_BROWSER: ${configured} is not a program that can be run: set the path of Chromium or Chrome, or \`none\``,
    );
  return found;
}
