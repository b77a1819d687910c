/** The command-line program: finds the command, shows help and maps failures to exit codes. */
import { Command, CommanderError } from 'commander';
import { COMMANDS } from './commands.ts';
import type { CliContext } from './context.ts';
import { CommandError, type ExitName, exitOf } from './exit-codes.ts';
import { Switch } from './flags.ts';
import { connectionReason, describeSystemError } from './system-errors.ts';

const EXAMPLES = `
Examples:
  lectern read https://example.com            a page as Markdown
  lectern read report.pdf -o report.md        a local file
  lectern read --site https://example.com/docs --out-dir docs
  lectern search "what is a reader" --json    search results with their content
  lectern serve                               the same over HTTP

Without --server or LECTERN_URL, commands need no server.
\`lectern <command> --help\` lists all options; \`lectern read --help | grep -i cookie\` finds one.`;

function createProgram({ version }: Pick<CliContext, 'version'>): Command {
  return (
    new Command('lectern')
      .description('Turns the web and your files into input for language models and retrieval systems.')
      .version(version)
      // Lets a command and its subcommands have options of the same name.
      .enablePositionalOptions()
      .addHelpCommand(
        new Command('help').argument('[command]').description('Show help for a command.').helpGroup(MAINTENANCE_GROUP),
      )
      .addHelpText('after', EXAMPLES)
  );
}

const MAINTENANCE_GROUP = 'Maintenance:';
const bold = (text: string) => `\x1b[1m${text}\x1b[22m`;

/** Applies the settings that all commands and subcommands share. */
function configureCommand(command: Command): Command {
  command
    .exitOverride()
    .configureHelp({
      styleTitle: bold,
      optionTerm: (option) => (option instanceof Switch ? option.term : option.flags),
    })
    .configureOutput({
      outputError: (text, write) =>
        write(`${text.trimEnd().replace(/^error:/, 'lectern:')}\n\`${pathOf(command)} --help\` lists the options\n`),
    });
  for (const inner of command.commands) configureCommand(inner);
  return command;
}

function pathOf(command: Command): string {
  return command.parent ? `${pathOf(command.parent)} ${command.name()}` : command.name();
}

/** Creates the program with all commands loaded: for the reference, completion and tests. */
export async function createFullProgram(context: CliContext): Promise<Command> {
  const program = createProgram(context);
  for (const { load, group } of COMMANDS) program.addCommand((await load())(context).helpGroup(`${group}:`));
  return configureCommand(program);
}

/** Creates the program with only the requested command loaded; the help lists the others by name. */
async function programFor(argv: readonly string[], context: CliContext): Promise<Command> {
  const requested = argv.find((word) => !word.startsWith('-') && word !== 'help');
  const program = createProgram(context);
  for (const { name, description, group, load } of COMMANDS) {
    const command = name === requested ? (await load())(context) : new Command(name).description(description);
    program.addCommand(command.helpGroup(`${group}:`));
  }
  return configureCommand(program);
}

/** Runs a command line. Never throws: prints a failure to standard error and returns its exit code. */
export async function run(argv: readonly string[], context: CliContext): Promise<ExitName> {
  try {
    const program = await programFor(argv, context);
    if (argv.length === 0) program.outputHelp();
    else await program.parseAsync(argv, { from: 'user' });
    return 'ok';
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? 'ok' : 'usage';
    // An interrupted command prints nothing more, unless its message says how to continue.
    if (!context.signal.aborted || error instanceof CommandError) context.note(`lectern: ${messageOf(error)}`);
    return exitOf(error);
  }
}

function messageOf(error: unknown): string {
  const text = describeSystemError(error);
  if (text !== undefined) return text;
  const { name, url } = error as { name?: unknown; url?: unknown };
  // By its name, because the client's module is loaded only by the commands that use it.
  const reason = name === 'LecternUnreachable' ? connectionReason(error) : undefined;
  if (reason) return `no response from ${String(url)}: ${reason}`;
  return (error instanceof Error ? error.message : String(error)).trimEnd();
}
