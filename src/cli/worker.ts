/** `lectern worker`: processes batch jobs and crawls. Its only port, which is optional, is that of its metrics. */
import { Command, Option } from 'commander';
import { SETTING_FLAGS } from '#generated/cli-flags.ts';
import { reportFaultsTo } from './context.ts';
import { usageError } from './exit-codes.ts';
import type { ServeContext } from './serve.ts';

/** Settings that are also flags of the worker. All others come from the environment and the settings file. */
const FLAGS: readonly string[] = [
  'dataDir',
  'databaseUrl',
  'redisUrl',
  'work',
  'batchJobs',
  'crawlJobs',
  'metricsHost',
  'metricsPort',
  'logLevel',
];

export function workerCommand({
  version,
  environment,
  print,
  onStop,
  onFault,
}: Pick<ServeContext, 'version' | 'environment' | 'print' | 'onStop' | 'onFault'>): Command {
  const command = new Command('worker')
    .description('Process batch jobs and crawls for servers that share the database or data folder.')
    .exitOverride()
    .addOption(new Option('--config <file>', 'Settings file, YAML or JSON. [LECTERN_CONFIG]'));
  for (const { flag, meaning, defaultText, variable } of SETTING_FLAGS.filter(({ name }) => FLAGS.includes(name))) {
    command.addOption(new Option(`${flag} <value>`, `${meaning} Default: ${defaultText}. [${variable}]`));
  }
  return command.action(async (flags: Record<string, unknown>) => {
    const { readConfig, unknownVariables } = await import('#config.ts');
    const { createLog } = await import('#telemetry/log.ts');
    const config = readConfig({ environment, flags });
    for (const warning of unknownVariables(environment)) print(`lectern: warning: ${warning}`);
    for (const [kind, name] of [
      ['batch', 'batchJobs'],
      ['crawl', 'crawlJobs'],
    ] as const) {
      if (config.work.includes(kind) && !config[name]) throw usageError(`${name} is 0: set it to at least 1`);
    }
    const { processTemporaryFolder } = await import('#app/temporary-folder.ts');
    await processTemporaryFolder();
    const { createWorker } = await import('#app/worker.ts');
    const log = createLog(config.logLevel);
    onFault(reportFaultsTo(log));
    const worker = await createWorker(config, version, log);
    onStop(() => worker.close());
    if (worker.metricsUrl) print(`lectern: metrics, live and ready ${worker.metricsUrl}`);
    const { work, batchJobs, crawlJobs } = config;
    const limits = { batch: `${batchJobs} batch jobs`, crawl: `${crawlJobs} crawls` };
    print(`lectern: processing up to ${work.map((kind) => limits[kind]).join(' and ')} at once`);
  });
}
