/** `lectern serve`: starts every face and says where each is. */
import { Command, Option } from 'commander';
import type { App, Place } from '#app.ts';
import type { Config } from '#config.ts';
import { SETTING_FLAGS } from '#generated/cli-flags.ts';
import { type FaultTeller, tellLog } from './context.ts';
import { usageError } from './exit-codes.ts';

export interface ServeContext {
  readonly version: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly print: (line: string) => void;
  /** Arranges for `stop` to be called when the process is told to end. */
  readonly onStop: (stop: () => Promise<void>) => void;
  readonly onFault: (tell: FaultTeller) => void;
}

export function serveCommand({ version, environment, print, onStop, onFault }: ServeContext): Command {
  const command = new Command('serve').description('Serve the reader and the other faces.').exitOverride();
  command.addOption(new Option('--config <file>', 'A YAML or JSON file of settings. [LECTERN_CONFIG]'));
  for (const { group, flag, meaning, defaultText, variable } of SETTING_FLAGS) {
    const option = new Option(`${flag} <value>`, `${meaning} Default: ${defaultText}. [${variable}]`);
    command.addOption(option.helpGroup(`${group}:`));
  }
  return command.action(async (flags: Record<string, unknown>) => {
    // Its help is faster without all of it.
    const { readConfig, unknownVariables } = await import('#config.ts');
    const { createLog } = await import('#telemetry/log.ts');
    const config = readConfig({ environment, flags });
    for (const name of unknownVariables(environment))
      print(`lectern: warning: ${name} is not a known setting and has no effect`);
    const log = createLog(config.logLevel);
    onFault(tellLog(log));
    const { ownTemporary } = await import('#app/own-temporary.ts');
    await ownTemporary();
    const { createApp } = await import('#app.ts');
    const app = await createApp({ config, version, log, environment });
    onStop(() => app.close());
    try {
      const places = await app.listen();
      for (const line of greeting(app, places, config)) print(line);
    } catch (error) {
      await app.close();
      throw inUse(error) ?? error;
    }
  });
}

function inUse(error: unknown): Error | undefined {
  const { code, port } = error as { code?: string; port?: number };
  if (code === 'EADDRINUSE')
    return usageError(`port ${port} is in use; \`lectern serve --help\` tells how to take another`);
  return code === 'EACCES' ? usageError(`port ${port} may not be opened by this user`) : undefined;
}

const LABELS: Record<Place['name'], string> = {
  reader: 'reader',
  search: 'search host',
  model: 'model host',
  flow: 'flow gateway',
  grpc: 'flow gateway (gRPC)',
  all: 'all faces by host name',
  admin: 'admin API',
  metrics: 'metrics',
};

const LOOPBACK = /^(?:localhost|127\.\d+\.\d+\.\d+|::1)$/;

function* greeting(app: App, places: Place[], { host, auth }: Config): Generator<string> {
  for (const { name, url } of places) {
    yield `lectern: ${LABELS[name].padEnd(22)} ${url}`;
    const curl = curlLine(name, url);
    if (curl) yield `lectern:   ${curl}`;
    if (name === 'reader') {
      yield `lectern:   in a browser ${url}/playground, documentation ${url}/docs`;
      yield `lectern:   for agents   ${url}/mcp`;
    }
  }
  const { available, sandboxed } = app.browser();
  if (!available) yield 'lectern: no browser: pages are read without running their scripts';
  else if (sandboxed === false)
    yield 'lectern: warning: the browser runs without its own sandbox (as root, or the system forbids it)';
  if (auth === 'off') {
    yield `lectern: warning: LECTERN_AUTH=off: whoever reaches ${host} may use every face, without a key and without limits`;
  } else if (!LOOPBACK.test(host)) {
    yield `lectern: warning: listening on ${host}: whoever reaches it may read without a key, so keep it behind what you trust`;
  }
  if (app.firstKey) yield `lectern: API key, shown only this once: ${app.firstKey}`;
}

function curlLine(name: Place['name'], url: string): string | undefined {
  switch (name) {
    case 'reader':
      return `curl ${url}/https://example.com`;
    case 'search':
      return `curl '${url}/your%20question' -H 'Authorization: Bearer lectern_…'`;
    case 'model':
      return `curl ${url}/v1/models`;
    case 'flow':
      return `curl ${url}/index --json '{"data": [{"uri": "https://example.com"}]}'`;
    case 'all':
      return `curl -H 'Host: r.localhost' ${url}/https://example.com`;
    case 'admin':
      return `curl ${url}/keys -H "Authorization: Bearer $LECTERN_ADMIN_SECRET"`;
    case 'metrics':
      return `curl ${url}/metrics`;
    case 'grpc':
      return undefined;
  }
}
