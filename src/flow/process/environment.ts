/**
 * The environment of an executor's process: that of the server without the server's own settings, and with the telemetry of
 * libraries off unless `env` of the executor says otherwise.
 */
import { TELEMETRY_OFF } from '#concurrency/environment.ts';

const OWN = /^(?:LECTERN_|NODE_CHANNEL_|NODE_UNIQUE_ID$)/i;

/** Settings of the server hold keys and passwords, so none is passed on; `own` is `env` of the executor. */
export const executorEnvironment = (
  own: Readonly<Record<string, string>>,
  all: NodeJS.ProcessEnv = process.env,
): NodeJS.ProcessEnv => ({
  ...Object.fromEntries(Object.entries(all).filter(([name]) => !OWN.test(name))),
  ...TELEMETRY_OFF,
  ...own,
});
