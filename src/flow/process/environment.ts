/**
 * The environment of an executor's process: the server's environment without Lectern's settings. Telemetry of libraries
 * is off unless the executor's `env` turns it on.
 */
import { TELEMETRY_OFF } from '#concurrency/environment.ts';

const INTERNAL = /^(?:LECTERN_|NODE_CHANNEL_|NODE_UNIQUE_ID$)/i;

/** The server's settings contain keys and passwords, so none is passed on. `own` is the executor's `env`. */
export const executorEnvironment = (
  own: Readonly<Record<string, string>>,
  all: NodeJS.ProcessEnv = process.env,
): NodeJS.ProcessEnv => ({
  ...Object.fromEntries(Object.entries(all).filter(([name]) => !INTERNAL.test(name))),
  ...TELEMETRY_OFF,
  ...own,
});
