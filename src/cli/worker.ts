/** `lectern worker`: processes batch jobs and crawls, and requests of servers. Its only port, which is optional, is that of its metrics. */
import type { Command } from 'commander';
import { reportFaultsTo } from './context.ts';
import { usageError } from './exit-codes.ts';
import type { ServeContext } from './serve.ts';
import { readSettings, settingsCommand } from './setting-flags.ts';

/** Settings that are also flags. */
const FLAGS: readonly string[] = [
  'dataDir',
  'databaseUrl',
  'redisUrl',
  'work',
  'batchJobs',
  'crawlJobs',
  'remoteWork',
  'documentWorkers',
  'metricsHost',
  'metricsPort',
  'logLevel',
  'logFormat',
];

export function workerCommand({
  version,
  environment,
  print,
  onStop,
  onFault,
}: Pick<ServeContext, 'version' | 'environment' | 'print' | 'onStop' | 'onFault'>): Command {
  const command = settingsCommand('worker', FLAGS).description(
    'Do work for servers: batch jobs, crawls, documents, text recognition, models.',
  );
  return command.action(async (flags: Record<string, unknown>) => {
    const config = await readSettings(flags, { environment, print });
    const { createLog } = await import('#telemetry/log.ts');
    for (const [kind, name] of [
      ['batch', 'batchJobs'],
      ['crawl', 'crawlJobs'],
    ] as const) {
      if (config.work.includes(kind) && !config[name]) throw usageError(`${name} is 0: set it to at least 1`);
    }
    const { processTemporaryFolder } = await import('#app/temporary-folder.ts');
    await processTemporaryFolder();
    const { createWorker } = await import('#app/worker.ts');
    const log = createLog(config.logLevel, 'stdout', config.logFormat);
    onFault(reportFaultsTo(log));
    const { collectWhenIdle } = await import('#app/idle-memory.ts');
    const opening = createWorker(config, version, log);
    const stopCollecting = collectWhenIdle();
    // Before everything is open, because jobs are already processed then.
    onStop(async () => {
      stopCollecting();
      await (await opening).close();
    });
    const worker = await opening;
    if (worker.metricsUrl) print(`lectern: metrics, live and ready ${worker.metricsUrl}`);
    const { work, batchJobs, crawlJobs } = config;
    const limits = [
      ...(work.includes('batch') ? [`${batchJobs} batch jobs`] : []),
      ...(work.includes('crawl') ? [`${crawlJobs} crawls`] : []),
    ];
    if (limits.length) print(`lectern: processing up to ${limits.join(' and ')} at once`);
    const requests = work.filter((kind) => kind !== 'batch' && kind !== 'crawl');
    if (requests.length) print(`lectern: answering requests of servers: ${requests.join(', ')}`);
  });
}
