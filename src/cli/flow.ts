/** `lectern flow`: runs a flow; `lectern flow export` writes files to run it elsewhere. */
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { Command } from 'commander';
import { FLOW_FLAGS } from '#generated/cli-flags.ts';
import { usageError } from './exit-codes.ts';
import { addFlowFlags, addOldFlags, type GivenFlags, optionsFromFlags } from './flow-flags.ts';
import { type FlowContext, serveUntilStopped } from './flow-server.ts';

interface FileFlags extends GivenFlags {
  readonly uses?: string;
  readonly env?: string[];
  readonly lenient?: boolean;
}

interface ExportFlags extends FileFlags {
  readonly output?: string;
  readonly image?: string;
  readonly namespace?: string;
}

/** Flags that must also be part of exported files. */
const OF_THE_FILE = ['name', 'workspace'];

const withFileFlags = (command: Command): Command =>
  addFlowFlags(
    command
      .option('--uses <file>', 'Flow file, YAML or JSON.')
      .option('--env <pairs...>', 'Variables of the flow file, each KEY: VALUE.')
      .option('--lenient', 'Load files with unknown options or repeated names, with a warning for each.'),
    FLOW_FLAGS.filter(({ name }) => OF_THE_FILE.includes(name)),
  );

export function flowCommand(context: FlowContext): Command {
  const flow = withFileFlags(new Command('flow')).description('Run a flow from its file until the process is stopped.');
  addFlowFlags(
    flow,
    FLOW_FLAGS.filter(({ name }) => !OF_THE_FILE.includes(name)),
  );
  addOldFlags(flow)
    .enablePositionalOptions()
    .exitOverride()
    .action(async (flags: FileFlags) => serveUntilStopped(context, await definitionLoader(context, flags)));
  flow.addCommand(exportCommand(context));
  return flow;
}

/** Returns a function that reads the flow file. The command-line flags override the options in the file. */
async function definitionLoader({ environment }: FlowContext, { uses, env, lenient, ...flags }: FileFlags) {
  if (uses === undefined) throw usageError('no flow given: pass the flow file with --uses');
  const [{ loadFlow }, { readPairs }] = await Promise.all([import('#flow/index.ts'), import('./pairs.ts')]);
  const pairs = Object.entries(readPairs(env) ?? {}).map(([key, value]) => [key, String(value)]);
  const given = await optionsFromFlags(FLOW_FLAGS, flags);
  return () =>
    loadFlow(path.resolve(uses), {
      env: { ...environment, ...Object.fromEntries(pairs) },
      with: given,
      lenient: lenient ?? false,
    });
}

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
  const definition = (await definitionLoader(context, file))();
  const { exportFlow, exportWarnings } = await import('#flow/index.ts');
  const warnings = [...definition.warnings, ...(kind === 'flowchart' ? [] : exportWarnings(definition))];
  for (const warning of warnings) context.note(`lectern: warning: ${warning}`);
  const files = exportFlow(kind, definition, {
    image: image ?? `lectern:${context.version}`,
    namespace,
    baseDir: path.dirname(path.resolve(file.uses!)),
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
