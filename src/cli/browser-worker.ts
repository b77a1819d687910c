/** `lectern browser-worker`: runs browsers for servers on other machines. */
import { Command, Option } from 'commander';
import { SETTING_FLAGS } from '#generated/cli-flags.ts';
import { reportFaultsTo } from './context.ts';
import type { ServeContext } from './serve.ts';

/** Settings that are also flags. All others come from the environment and the settings file. */
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
];

export function browserWorkerCommand({
  version,
  environment,
  print,
  onStop,
  onFault,
}: Pick<ServeContext, 'version' | 'environment' | 'print' | 'onStop' | 'onFault'>): Command {
  const command = new Command('browser-worker')
    .description('Run browsers for servers on other machines.')
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
    const { processTemporaryFolder } = await import('#app/temporary-folder.ts');
    await processTemporaryFolder();
    const { createBrowserWorker } = await import('#app/browser-worker.ts');
    const log = createLog(config.logLevel);
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
