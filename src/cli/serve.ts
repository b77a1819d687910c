/** `lectern serve`: starts the server and prints the URL of each API. */
import { existsSync } from 'node:fs';
import type { Command } from 'commander';
import type { App, FaceUrl } from '#app.ts';
import type { Config } from '#config.ts';
import { type ReportFault, reportFaultsTo } from './context.ts';
import { usageError } from './exit-codes.ts';
import { type OfferContext, offerBrowser } from './offer-browser.ts';
import { readSettings, settingsCommand } from './setting-flags.ts';

export interface ServeContext extends OfferContext {
  readonly version: string;
  readonly print: (line: string) => void;
  /** Registers `stop` to be called when the process is asked to stop. */
  readonly onStop: (stop: () => Promise<void>) => void;
  readonly onFault: (tell: ReportFault) => void;
}

export function serveCommand(context: ServeContext): Command {
  const { version, environment, print, onStop, onFault } = context;
  const command = settingsCommand('serve').description('Start the server.');
  return command.action(async (flags: Record<string, unknown>) => {
    const config = await readSettings(flags, { environment, print });
    const { createLog } = await import('#telemetry/log.ts');
    await offerBrowser(context, config);
    const log = createLog(config.logLevel, 'stdout', config.logFormat);
    onFault(reportFaultsTo(log));
    const { processTemporaryFolder } = await import('#app/temporary-folder.ts');
    await processTemporaryFolder();
    const step = stepNotes(context, config);
    step('preparing the data folder and the modules');
    const { createApp } = await import('#app.ts');
    const app = await createApp({ config, version, log, environment });
    const { collectWhenIdle } = await import('#app/idle-memory.ts');
    const stopCollecting = collectWhenIdle();
    onStop(() => {
      stopCollecting();
      return app.close();
    });
    try {
      step('opening the ports');
      const places = await app.listen();
      for (const line of startupLines(app, places, config)) print(line);
    } catch (error) {
      await app.close();
      throw explainListenError(error) ?? error;
    }
  });
}

/** On a terminal, the first start names its steps, because it takes longer than later ones. */
function stepNotes({ note, rewrite }: ServeContext, { dataDir }: Config): (step: string) => void {
  const isFirst = rewrite !== undefined && !existsSync(dataDir);
  return (step) => {
    if (isFirst) note(`lectern: first start: ${step} …`);
  };
}

function explainListenError(error: unknown): Error | undefined {
  const { code, port } = error as { code?: string; port?: number };
  if (code === 'EADDRINUSE') return usageError(`port ${port} is in use: choose another, see \`lectern serve --help\``);
  return code === 'EACCES'
    ? usageError(`this user may not open port ${port}: choose another or change the permissions`)
    : undefined;
}

const LABELS: Record<FaceUrl['name'], string> = {
  reader: 'reader',
  search: 'search host',
  'eu-reader': 'reader inside the EU',
  'eu-search': 'search inside the EU',
  model: 'model host',
  compat: 'other clients',
  flow: 'flow gateway',
  grpc: 'flow gateway (gRPC)',
  all: 'all APIs by host name',
  admin: 'admin API',
  metrics: 'metrics',
};

const LOOPBACK = /^(?:localhost|127\.\d+\.\d+\.\d+|::1)$/;

function* startupLines(app: App, places: FaceUrl[], { host, auth }: Config): Generator<string> {
  for (const { name, url } of places) {
    yield `lectern: ${LABELS[name].padEnd(22)} ${url}`;
    const curl = curlLine(name, url);
    if (curl) yield `lectern:   ${curl}`;
    if (name === 'reader') {
      yield `lectern:   playground ${url}/playground, documentation ${url}/docs`;
      yield `lectern:   for agents   ${url}/mcp`;
    }
  }
  const { available, sandboxed } = app.browser();
  if (!available) yield 'lectern: no browser: pages are read without running scripts';
  else if (sandboxed === false)
    yield 'lectern: warning: the browser runs without its sandbox (running as root, or the system forbids it)';
  if (auth === 'off') {
    yield `lectern: warning: LECTERN_AUTH=off: anyone who can reach ${host} can use every API without a key or limits`;
  } else if (!LOOPBACK.test(host)) {
    yield `lectern: warning: listening on ${host}: anyone who can reach it can read without a key; restrict access to trusted networks`;
  }
  if (app.firstKey) yield `lectern: API key, shown only this once: ${app.firstKey}`;
}

function curlLine(name: FaceUrl['name'], url: string): string | undefined {
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
