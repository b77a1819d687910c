/** `lectern browser-worker`: runs browsers for servers on other machines. */
import type { Command } from 'commander';
import { reportFaultsTo } from './context.ts';
import type { ServeContext } from './serve.ts';
import { readSettings, settingsCommand } from './setting-flags.ts';

/** Settings that are also flags. */
const FLAGS: readonly string[] = [
  'dataDir',
  'browser',
  'browserToken',
  'browserWorkerHost',
  'browserWorkerPort',
  'browserWorkerProxies',
  'pageMemoryMb',
  'drainMs',
  'logLevel',
  'logFormat',
];

export function browserWorkerCommand({
  version,
  environment,
  print,
  onStop,
  onFault,
}: Pick<ServeContext, 'version' | 'environment' | 'print' | 'onStop' | 'onFault'>): Command {
  const command = settingsCommand('browser-worker', FLAGS).description('Run browsers for servers on other machines.');
  return command.action(async (flags: Record<string, unknown>) => {
    const config = await readSettings(flags, { environment, print });
    const { createLog } = await import('#telemetry/log.ts');
    const { processTemporaryFolder } = await import('#app/temporary-folder.ts');
    await processTemporaryFolder();
    const { createBrowserWorker } = await import('#app/browser-worker.ts');
    const log = createLog(config.logLevel, 'stdout', config.logFormat);
    onFault(reportFaultsTo(log));
    const worker = await createBrowserWorker(config, version, log);
    onStop(() => worker.close());
    print(`lectern: browser for servers ${worker.url}`);
    if (worker.sandboxed === false)
      print('lectern: warning: the browser runs without its sandbox (running as root, or the system forbids it)');
    if (!config.browserWorkerProxies.length)
      print('lectern: warning: LECTERN_BROWSER_WORKER_PROXIES is not set: the browser itself may resolve host names');
  });
}
