/** Serves a flow until the process is stopped: the commands `flow` and `gateway`. */
import type { FlowDefinition, FlowServer } from '#flow/index.ts';
import type { Log } from '#telemetry/log.ts';
import { type ReportFault, reportFaultsTo } from './context.ts';

export interface FlowContext {
  readonly version: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly print: (line: string) => void;
  /** Prints a line to standard error. */
  readonly note: (line: string) => void;
  /** Registers `stop` to be called when the process is asked to stop. */
  readonly onStop: (stop: () => Promise<void>) => void;
  readonly onFault: (tell: ReportFault) => void;
}

export const LOOPBACK = /^(?:localhost|127\.\d+\.\d+\.\d+|::1)$/;

/** Creates the log at the configured level. */
export async function logOf({ environment, note }: Pick<FlowContext, 'environment' | 'note'>): Promise<Log> {
  // Imported here so that the help starts faster.
  const [{ readConfig, unknownVariables }, { createLog }] = await Promise.all([
    import('#config.ts'),
    import('#telemetry/log.ts'),
  ]);
  for (const warning of unknownVariables(environment)) note(`lectern: warning: ${warning}`);
  const { logLevel, logFormat } = readConfig({ environment });
  return createLog(logLevel, 'stdout', logFormat);
}

/** The lines that announce the metrics ports. */
export const metricsLines = (host: string, ports: readonly number[]): string[] =>
  ports.map((port) => `lectern: metrics  http://${host.includes(':') ? `[${host}]` : host}:${port}/metrics`);

/**
 * `load` reads the definition. It is called again whenever the files change. If the definition is invalid, its error is
 * thrown.
 */
export async function serveUntilStopped(context: FlowContext, load: () => FlowDefinition): Promise<void> {
  const { environment, version, print, onStop } = context;
  const definition = load();
  const log = await logOf(context);
  context.onFault(reportFaultsTo(log));
  const { serveFlow } = await import('#flow/index.ts');
  const { openBuiltInExecutors } = await import('./built-in-executors.ts');
  const { createCrossSiteRefusal } = await import('#app/flow-cross-site.ts');
  const { deployments, gateway } = definition;
  const { executors, close } = await openBuiltInExecutors(deployments, context, gateway.reload);
  let server: FlowServer;
  try {
    const refuse = createCrossSiteRefusal(definition.gateway, [definition.gateway.host]);
    server = await serveFlow({ definition, load, version, environment, log, executors, ownProcesses: true, refuse });
  } catch (error) {
    await close();
    throw error;
  }
  onStop(async () => {
    await server.close();
    await close();
  });
  const { host, token } = definition.gateway;
  for (const line of metricsLines(host, server.monitoringPorts)) print(line);
  for (const { protocol, url } of server.places) print(`lectern: flow ${protocol.toLowerCase().padEnd(10)} ${url}`);
  if (!token && !LOOPBACK.test(host)) {
    print(`lectern: warning: listening on ${host} without a token: anyone who can reach it can use the flow`);
  }
}
