/** `lectern executor`: serves one executor over gRPC; `lectern executor new` makes a folder with one to start from. */
import path from 'node:path';
import { Command, Option } from 'commander';
import type { ExecutorServer } from '#flow/index.ts';
import { reportFaultsTo } from './context.ts';
import { type TemplateLanguage, writeTemplate } from './executor-template.ts';
import { type FlowContext, LOOPBACK, logOf } from './flow.ts';

interface ExecutorFlags {
  readonly port: string;
  readonly host: string;
  readonly sslCertfile?: string;
  readonly sslKeyfile?: string;
  readonly native?: boolean;
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
    .description('Serve one executor over gRPC until it is told to end.')
    .option('--uses <what>', 'The class of the executor, or its YAML file.')
    .option('--name <name>', 'Its name in flows.')
    .addOption(new Option('--port <port>', 'The port to listen on, 0 for any free one.').default('0'))
    .addOption(new Option('--host <host>', 'The address to listen on.').default('127.0.0.1'))
    .option('--uses-with <pairs...>', 'Options of the executor, each KEY: VALUE.')
    .option('--uses-metas <pairs...>', 'Metadata of the executor, each KEY: VALUE.')
    .option('--uses-requests <pairs...>', 'Methods to bind, each ENDPOINT: METHOD.')
    .option('--uses-dynamic-batching <pairs...>', 'Batches, each ENDPOINT: {preferred_batch_size: N, timeout: MS}.')
    .option('--modules <files...>', 'Files that the class is exported by.')
    .addOption(new Option('--py-modules <files...>', 'The same.').hideHelp())
    .option('--replicas <count>', 'How many of it work side by side, each in a process of its own.')
    .option('--shards <count>', 'How many parts its data is spread over.')
    .option('--polling <how>', 'Which shards get a request: ANY or ALL, or a mapping of endpoints.')
    .option('--uses-before <what>', 'An executor that runs before the shards.')
    .option('--uses-after <what>', 'An executor that runs after the shards.')
    .option('--workspace <folder>', 'Where it keeps its data.')
    .option('--env <pairs...>', 'Its environment, each KEY: VALUE.')
    .option('--timeout-ready <ms>', 'How long it may take to start; -1 for ever.')
    .option('--exit-on-exceptions <names...>', 'Errors after which it ends.')
    .option('--output-array-type <type>', 'list or numpy.')
    .option('--own-process <flag>', 'false runs executors of modules in the process of this command.')
    .option('--max-memory-bytes <bytes>', 'The memory that a process of an executor may take; 0 for no limit.')
    .option('--ssl-certfile <file>', 'The certificate to serve TLS with, PEM.')
    .option('--ssl-keyfile <file>', 'The key of the certificate, PEM.')
    .addOption(new Option('--native', 'Without effect.').hideHelp())
    .enablePositionalOptions()
    .exitOverride()
    .action((flags: ExecutorFlags) => run(context, flags));
  command
    .command('new')
    .description('Make a folder with an executor, its test and its YAML.')
    .argument('<name>', 'the name of the class, such as MyExecutor')
    .argument('[folder]', 'where to; a folder of that name when left out')
    .addOption(
      new Option('--language <language>', 'ts, or js with types in comments, which every Node runs.')
        .choices(['ts', 'js'])
        .default(runsTypeScript() ? 'ts' : 'js', 'ts where this Node runs it, else js'),
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

/** Without a loader: from Node 22.18 on. */
const runsTypeScript = (): boolean => Boolean((process.features as { typescript?: unknown }).typescript);

async function optionsOf(flags: ExecutorFlags) {
  const { readPairs } = await import('./pairs.ts');
  /** A configuration that is written out where a name could be. */
  const inPlace = (key: string, value: string | undefined) =>
    value?.trimStart().startsWith('{') ? { [key]: readPairs([value]) } : {};
  const { port: _port, host: _host, sslCertfile: _cert, sslKeyfile: _key, native: _native, ...options } = flags;
  return {
    ...options,
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
  const { definition, warnings } = defineExecutor(await optionsOf(flags), {
    baseDir: path.resolve(),
    env: environment,
  });
  for (const warning of warnings) note(`lectern: warning: ${warning}`);
  const log = await logOf(environment);
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
  print(`lectern: executor ${definition.name}  ${server.url}`);
  if (!LOOPBACK.test(flags.host)) {
    print(`lectern: warning: listening on ${flags.host}: whoever reaches it may use the executor`);
  }
  await exited;
  await stop();
  throw new Error(`${definition.name} has ended itself after an error that it is told to end after`);
}

function portOf(text: string): number {
  const port = Number(text);
  if (!/^\d+$/.test(text) || port > 65_535) throw new Error(`${text} is not a port`);
  return port;
}
