/** Opens the APIs in this process for one command: without ports, keys or limits. */

import { type InProcess, openInProcess } from '#app/in-process.ts';
import { processTemporaryFolder } from '#app/temporary-folder.ts';
import type { AppOptions } from '#app.ts';
import { type Config, readConfig, unknownVariables } from '#config.ts';
import { createLog } from '#telemetry/log.ts';
import { type ClientFlags, dataDirOf } from './client.ts';
import type { CliContext } from './context.ts';
import { offerBrowser } from './offer-browser.ts';

/** `faces: 'reader'` starts faster and serves only reads. */
export interface InProcessOptions {
  readonly faces: 'all' | 'reader';
  /** Jobs that this process runs. Other jobs wait for a server or worker. */
  readonly jobs: 'batch' | 'crawl' | undefined;
  /** Whether to offer a browser if there is none. */
  readonly rendersPages: boolean;
}

export async function openInProcessFaces(
  context: CliContext,
  flags: ClientFlags,
  needs: InProcessOptions,
): Promise<InProcess> {
  const config = configOf(context, flags, needs);
  const { environment, version } = context;
  for (const warning of unknownVariables(environment)) context.note(`lectern: warning: ${warning}`);
  if (needs.rendersPages) await offerBrowser(context, config);
  await processTemporaryFolder();
  const options = {
    config,
    version,
    log: createLog(flags.verbose ? 'info' : 'silent', 'stderr', config.logFormat),
    environment,
  };
  const { faces, close } = await (needs.faces === 'reader' ? openReaderOnly(options) : openAllFaces(options));
  try {
    const opened = await openInProcess(faces);
    return {
      ...opened,
      async close() {
        await opened.close();
        await close();
      },
    };
  } catch (error) {
    await close();
    throw error;
  }
}

function configOf(context: CliContext, flags: ClientFlags, { jobs }: InProcessOptions): Config {
  const { environment } = context;
  const settings = readConfig({ environment, flags: { dataDir: dataDirOf(context, flags), config: flags.config } });
  return {
    ...settings,
    auth: 'off',
    adminSecret: undefined,
    flow: undefined,
    // There is only one caller, so limits need not be shared.
    limitStore: 'memory',
    redisUrl: undefined,
    // Loads only the models that the command uses.
    modelsWarm: [],
    batchJobs: jobs === 'batch' ? settings.batchJobs : 0,
    crawlJobs: jobs === 'crawl' ? settings.crawlJobs : 0,
    drainMs: 0,
  };
}

interface OpenedFaces {
  readonly faces: Parameters<typeof openInProcess>[0];
  close(): Promise<void>;
}

async function openAllFaces(options: AppOptions): Promise<OpenedFaces> {
  const { createApp } = await import('#app.ts');
  const app = await createApp(options);
  return { faces: { ...app.faces, flow: app.flow }, close: app.close };
}

async function openReaderOnly(options: AppOptions): Promise<OpenedFaces> {
  const { createReaderOnly } = await import('#app/reader-only.ts');
  const { face, close } = await createReaderOnly(options);
  return { faces: { reader: face }, close };
}
