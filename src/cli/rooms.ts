/** The rooms of this process for one command: built without ports, keys or limits, and ended with it. */

import { type InProcess, openInProcess } from '#app/in-process.ts';
import { createApp } from '#app.ts';
import { type Config, readConfig } from '#config.ts';
import { createLog } from '#telemetry/log.ts';
import { type ClientFlags, dataDirOf } from './client.ts';
import type { CliContext } from './context.ts';

export async function openRooms(
  context: CliContext,
  flags: ClientFlags,
  { jobs }: { readonly jobs: boolean },
): Promise<InProcess> {
  const { environment, version } = context;
  const settings = readConfig({ environment, flags: { dataDir: dataDirOf(context, flags), config: flags.config } });
  const config: Config = {
    ...settings,
    auth: 'off',
    adminSecret: undefined,
    flow: undefined,
    // One caller counts for nobody else.
    limitStore: 'memory',
    redisUrl: undefined,
    // What is not asked for needs no memory.
    modelsWarm: [],
    batchJobs: jobs ? settings.batchJobs : 0,
    crawlJobs: jobs ? settings.crawlJobs : 0,
    drainMs: 0,
  };
  const log = createLog(flags.verbose ? 'info' : 'silent', 'stderr');
  const app = await createApp({ config, version, log, environment });
  try {
    const opened = await openInProcess({ ...app.faces, flow: app.flow });
    return {
      ...opened,
      async close() {
        await opened.close();
        await app.close();
      },
    };
  } catch (error) {
    await app.close();
    throw error;
  }
}
