/** `lectern worker`: works on batch jobs, without a port. */
import { Command, Option } from 'commander';
import { SETTING_FLAGS } from '#generated/cli-flags.ts';
import { reportFaultsTo } from './context.ts';
import { usageError } from './exit-codes.ts';
import type { ServeContext } from './serve.ts';

/** The settings that a worker is told most often; the environment and the file tell it the others. */
const FLAGS: readonly string[] = ['dataDir', 'databaseUrl', 'redisUrl', 'batchJobs', 'logLevel'];

export function workerCommand({ environment, print, onStop, onFault }: Omit<ServeContext, 'version'>): Command {
  const command = new Command('worker')
    .description('Work on batch jobs beside servers that share the database, or the data folder.')
    .exitOverride()
    .addOption(new Option('--config <file>', 'A YAML or JSON file of settings. [LECTERN_CONFIG]'));
  for (const { flag, meaning, defaultText, variable } of SETTING_FLAGS.filter(({ name }) => FLAGS.includes(name))) {
    command.addOption(new Option(`${flag} <value>`, `${meaning} Default: ${defaultText}. [${variable}]`));
  }
  return command.action(async (flags: Record<string, unknown>) => {
    const { readConfig } = await import('#config.ts');
    const { createLog } = await import('#telemetry/log.ts');
    const config = readConfig({ environment, flags });
    if (!config.batchJobs) throw usageError('batchJobs is 0: this worker would have nothing to do');
    const { ownTemporary } = await import('#app/own-temporary.ts');
    await ownTemporary();
    const { createWorker } = await import('#app/worker.ts');
    const log = createLog(config.logLevel);
    onFault(reportFaultsTo(log));
    const worker = await createWorker(config, log);
    onStop(() => worker.close());
    print(`lectern: works on up to ${config.batchJobs} batch jobs at once`);
  });
}
