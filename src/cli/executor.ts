/** `lectern executor`: serves one executor over gRPC; `lectern executor new` creates a folder with an example. */
import path from 'node:path';
import { Command, Option } from 'commander';
import type { ExecutorServer } from '#flow/index.ts';
import { EXECUTOR_FLAGS } from '#generated/cli-flags.ts';
import { reportFaultsTo } from './context.ts';
import { type TemplateLanguage, writeTemplate } from './executor-template.ts';
import { addFlowFlags, optionsFromFlags } from './flow-flags.ts';
import { type FlowContext, LOOPBACK, logOf, metricsLines } from './flow-server.ts';

interface ExecutorFlags {
  readonly port: string;
  readonly host: string;
  readonly sslCertfile?: string;
  readonly sslKeyfile?: string;
  readonly native?: boolean;
  readonly lenient?: boolean;
  readonly uses?: string;
  readonly usesBefore?: string;
  readonly usesAfter?: string;
  readonly usesWith?: string[];
  readonly usesMetas?: string[];
  readonly usesRequests?: string[];
  readonly usesDynamicBatching?: string[];
  readonly env?: string[];
  readonly [option: string]: unknown;
}

export function executorCommand(context: FlowContext): Command {
  const command = new Command('executor')
    .description('Serve one executor over gRPC until the process is stopped.')
    .option('--uses <what>', 'Class of the executor, or its YAML file.')
    .option('--name <name>', 'Name of the executor in flows.')
    .addOption(new Option('--port <port>', 'Port to listen on; 0 picks a free one.').default('0'))
    .addOption(new Option('--host <host>', 'IP address or host name to listen on.').default('127.0.0.1'))
    .option('--uses-with <pairs...>', 'Options of the executor, each KEY: VALUE.')
    .option('--uses-metas <pairs...>', 'Metadata of the executor, each KEY: VALUE.')
    .option('--uses-requests <pairs...>', 'Methods to bind, each ENDPOINT: METHOD.')
    .option('--uses-dynamic-batching <pairs...>', 'Batches, each ENDPOINT: {preferred_batch_size: N, timeout: MS}.')
    .option('--modules <files...>', 'Modules that export the class.')
    .addOption(new Option('--py-modules <files...>', 'The same.').hideHelp())
    .option('--replicas <count>', 'Number of replicas, each in its own process.')
    .option('--shards <count>', 'Number of shards that the data is spread over.')
    .option('--polling <how>', 'Shards that get a request: ANY, ALL, or a mapping by endpoint.')
    .option('--uses-before <what>', 'Executor that runs before the shards.')
    .option('--uses-after <what>', 'Executor that runs after the shards.')
    .option('--workspace <folder>', 'Folder for the data of the executor.')
    .option('--env <pairs...>', 'Environment variables, each KEY: VALUE.')
    .option('--timeout-ready <ms>', 'Maximum start-up time; -1 for no limit.')
    .option('--exit-on-exceptions <names...>', 'Names of errors that end the process.')
    .option('--output-array-type <type>', 'Format of arrays in answers: list or numpy.')
    .option('--own-process <flag>', 'false runs executors from modules in this process.')
    .option('--max-memory-bytes <bytes>', 'Memory limit of an executor process; 0 for no limit.')
    .option('--ssl-certfile <file>', 'TLS certificate, PEM.')
    .option('--ssl-keyfile <file>', 'Private key of the certificate, PEM.')
    .option('--lenient', 'Load a file with unknown options, with a warning for each.')
    .addOption(new Option('--native', 'Accepted and ignored.').hideHelp());
  addFlowFlags(command, EXECUTOR_FLAGS)
    .enablePositionalOptions()
    .exitOverride()
    .action((flags: ExecutorFlags) => run(context, flags));
  command
    .command('new')
    .description('Create a folder with an executor, its test and its YAML.')
    .argument('<name>', 'class name, such as MyExecutor')
    .argument('[folder]', 'target folder; named after the class if omitted')
    .addOption(
      new Option('--language <language>', 'ts, or js with types in comments for older versions of Node.')
        .choices(['ts', 'js'])
        .default(runsTypeScript() ? 'ts' : 'js', 'ts if this Node runs TypeScript, else js'),
    )
    .exitOverride()
    .action((name: string, folder: string | undefined, { language }: { language: TemplateLanguage }) => {
      const made = writeTemplate(name, path.resolve(folder ?? name), context.version, language);
      for (const file of made) context.note(file);
      if (language === 'ts' && !runsTypeScript()) {
        context.note(
          `lectern: warning: Node ${process.versions.node} does not run TypeScript: use Node 22.18 or newer`,
        );
      }
      context.print(path.dirname(made[0]!));
    });
  return command;
}

/** Whether Node runs TypeScript without a loader, as version 22.18 and newer do. */
const runsTypeScript = (): boolean => Boolean((process.features as { typescript?: unknown }).typescript);

async function optionsOf(flags: ExecutorFlags) {
  const { readPairs } = await import('./pairs.ts');
  /** Parses a configuration given inline instead of a name or file. */
  const inPlace = (key: string, value: string | undefined) =>
    value?.trimStart().startsWith('{') ? { [key]: readPairs([value]) } : {};
  const { port: _port, host: _host, sslCertfile: _cert, sslKeyfile: _key, ...more } = flags;
  const { native: _native, lenient: _lenient, grpcServerOptions: _grpc, ...options } = more;
  return {
    ...options,
    ...(await optionsFromFlags(EXECUTOR_FLAGS, flags)),
    ...inPlace('uses', flags.uses),
    ...inPlace('usesBefore', flags.usesBefore),
    ...inPlace('usesAfter', flags.usesAfter),
    usesWith: readPairs(flags.usesWith),
    usesMetas: readPairs(flags.usesMetas),
    usesRequests: readPairs(flags.usesRequests),
    usesDynamicBatching: readPairs(flags.usesDynamicBatching),
    env: readPairs(flags.env),
  };
}

async function run(context: FlowContext, flags: ExecutorFlags): Promise<void> {
  const { environment, version, print, note, onStop } = context;
  const { defineExecutor, serveExecutor } = await import('#flow/index.ts');
  const options = await optionsOf(flags);
  const define = () =>
    defineExecutor(options, { baseDir: path.resolve(), env: environment, lenient: flags.lenient ?? false });
  const { definition, warnings } = define();
  for (const warning of warnings) note(`lectern: warning: ${warning}`);
  const log = await logOf(context);
  context.onFault(reportFaultsTo(log));
  const { openBuiltInExecutors } = await import('./built-in-executors.ts');
  const { executors, close } = await openBuiltInExecutors([definition], context);
  let server: ExecutorServer | undefined;
  let exit = () => {};
  const exited = new Promise<void>((resolve) => {
    exit = resolve;
  });
  const stop = async (): Promise<void> => {
    await server?.close();
    await close();
  };
  try {
    server = await serveExecutor({
      definition,
      load: () => define().definition,
      port: portOf(flags.port),
      host: flags.host,
      tls: { certfile: flags.sslCertfile, keyfile: flags.sslKeyfile },
      version,
      environment,
      log,
      executors,
      ownProcesses: true,
      onExit: exit,
    });
  } catch (error) {
    await close();
    throw error;
  }
  onStop(stop);
  for (const line of metricsLines(flags.host, server.monitoringPorts)) print(line);
  print(`lectern: executor ${definition.name}  ${server.url}`);
  if (!LOOPBACK.test(flags.host)) {
    print(`lectern: warning: listening on ${flags.host}: anyone who can reach it can use the executor`);
  }
  await exited;
  await stop();
  throw new Error(`${definition.name} ended after an error listed in --exit-on-exceptions`);
}

function portOf(text: string): number {
  const port = Number(text);
  if (!/^\d+$/.test(text) || port > 65_535) throw new Error(`${text} is not a port: use 0 to 65535`);
  return port;
}
