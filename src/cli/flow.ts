/** `lectern flow`: runs a flow; `lectern flow export` writes files to run it elsewhere. */
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { Command } from 'commander';
import type { FlowServer } from '#flow/index.ts';
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

interface FileFlags {
  readonly uses?: string;
  readonly env?: string[];
  readonly name?: string;
  readonly workspace?: string;
}

interface RunFlags extends FileFlags {
  readonly protocol?: string[];
  readonly port?: string[];
  readonly host?: string;
  readonly inspect?: string;
}

interface ExportFlags extends FileFlags {
  readonly output?: string;
  readonly image?: string;
  readonly namespace?: string;
}

const withFileFlags = (command: Command): Command =>
  command
    .option('--uses <file>', 'Flow file, YAML or JSON.')
    .option('--env <pairs...>', 'Variables of the flow file, each KEY: VALUE.')
    .option('--name <name>', 'Name of the flow.')
    .option('--workspace <folder>', 'Folder for the data of executors.');

export function flowCommand(context: FlowContext): Command {
  const flow = withFileFlags(new Command('flow'))
    .description('Run a flow from its file until the process is stopped.')
    .option('--protocol <names...>', 'Protocols, overriding the file: grpc, http, websocket.')
    .option('--port <ports...>', 'Ports, one for each protocol.')
    .option('--host <host>', 'IP address or host name to listen on.')
    .option('--inspect <how>', 'COLLECT, HANG, or REMOVE to omit inspecting executors.')
    .enablePositionalOptions()
    .exitOverride()
    .action((flags: RunFlags) => run(context, flags));
  flow.addCommand(exportCommand(context));
  return flow;
}

async function loadDefinition(
  { environment }: FlowContext,
  { uses, env, ...rest }: FileFlags & Record<string, unknown>,
) {
  if (uses === undefined) throw new Error('no flow given: name its file with --uses');
  const [{ loadFlow }, { readPairs }] = await Promise.all([import('#flow/index.ts'), import('./pairs.ts')]);
  const pairs = Object.entries(readPairs(env) ?? {}).map(([key, value]) => [key, String(value)]);
  const given = Object.entries(rest).filter(([, value]) => value !== undefined);
  return loadFlow(path.resolve(uses), {
    env: { ...environment, ...Object.fromEntries(pairs) },
    with: Object.fromEntries(given),
  });
}

async function run(context: FlowContext, { uses, env, name, workspace, ...flags }: RunFlags): Promise<void> {
  const { environment, version, print, onStop } = context;
  const definition = await loadDefinition(context, { uses, env, name, workspace, ...flags });
  const log = await logOf(environment);
  context.onFault(reportFaultsTo(log));
  const { serveFlow } = await import('#flow/index.ts');
  const { openBuiltInExecutors } = await import('./built-in-executors.ts');
  const { createCrossSiteRefusal } = await import('#app/flow-cross-site.ts');
  const { executors, close } = await openBuiltInExecutors(definition.deployments, context);
  let server: FlowServer;
  try {
    const refuse = createCrossSiteRefusal(definition.gateway, [definition.gateway.host]);
    server = await serveFlow({ definition, version, environment, log, executors, ownProcesses: true, refuse });
  } catch (error) {
    await close();
    throw error;
  }
  onStop(async () => {
    await server.close();
    await close();
  });
  for (const { protocol, url } of server.places) print(`lectern: flow ${protocol.toLowerCase().padEnd(10)} ${url}`);
  const { host, token } = definition.gateway;
  if (!token && !LOOPBACK.test(host)) {
    print(`lectern: warning: listening on ${host} without a token: anyone who can reach it can use the flow`);
  }
}

/** Creates the log at the configured level. */
export async function logOf(environment: FlowContext['environment']): Promise<Log> {
  // Imported here so that the help starts faster.
  const [{ readConfig }, { createLog }] = await Promise.all([import('#config.ts'), import('#telemetry/log.ts')]);
  return createLog(readConfig({ environment }).logLevel);
}

export const LOOPBACK = /^(?:localhost|127\.\d+\.\d+\.\d+|::1)$/;

const KINDS = ['kubernetes', 'compose', 'flowchart'] as const;

function exportCommand(context: FlowContext): Command {
  const command = new Command('export').description('Export a flow to Kubernetes, Docker Compose or a flowchart.');
  for (const kind of KINDS) {
    command.addCommand(
      withFileFlags(new Command(kind))
        .description(DESCRIPTIONS[kind])
        .option('--output <folder>', 'Output folder; standard output if omitted.')
        .option('--image <image>', 'Container image with Lectern and the modules of the executors.')
        .option('--namespace <name>', 'Kubernetes namespace.')
        .exitOverride()
        .action((flags: ExportFlags) => writeExport(context, kind, flags)),
    );
  }
  return command;
}

const DESCRIPTIONS = {
  kubernetes: 'Write Deployments, Services, ConfigMaps and autoscalers for Kubernetes.',
  compose: 'Write a Docker Compose file.',
  flowchart: 'Write the graph of the flow as a Mermaid flowchart.',
} as const;

async function writeExport(
  context: FlowContext,
  kind: (typeof KINDS)[number],
  { output, image, namespace, ...file }: ExportFlags,
): Promise<void> {
  const definition = await loadDefinition(context, file);
  const { exportFlow } = await import('#flow/index.ts');
  const files = exportFlow(kind, definition, {
    image: image ?? `lectern:${context.version}`,
    namespace,
    baseDir: path.dirname(path.resolve(file.uses ?? '')),
  });
  for (const { name, text } of files) {
    if (output === undefined) {
      context.print(text.trimEnd());
    } else {
      mkdirSync(output, { recursive: true });
      writeFileSync(path.join(output, name), text);
      context.note(path.join(output, name));
    }
  }
}
