/** Flags for flows, gateways and executors, from the option tables for flow files. */
import { type Command, type FlowFlag, Option } from './flags.ts';

export type GivenFlags = Readonly<Record<string, unknown>>;

const PAIRS = 'pairs';
const NEGATION = 'no_';

function termOf({ name, value, several }: FlowFlag): string {
  const flag = `--${name.replaceAll('_', '-')}`;
  if (value === undefined) return flag;
  return `${flag} <${value}${several || value === PAIRS ? '...' : ''}>`;
}

export function addFlowFlags(command: Command, rows: readonly FlowFlag[]): Command {
  for (const row of rows) command.option(termOf(row), row.meaning);
  return command;
}

/** Older names, which the help does not list. */
export function addOldFlags(command: Command): Command {
  return command
    .addOption(new Option('--port-expose <ports...>', 'The same as --port.').hideHelp())
    .addOption(new Option('--rest-api', 'The same as --restful.').hideHelp());
}

const camelCase = (name: string): string => name.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase());

/** The given flags as options of a flow file. Throws an Error that quotes an invalid pair. */
export async function optionsFromFlags(rows: readonly FlowFlag[], flags: GivenFlags): Promise<Record<string, unknown>> {
  const { readPairs } = await import('./pairs.ts');
  const options: Record<string, unknown> = {};
  for (const { name, value } of rows) {
    // Commander reads `--no-x` as the switch `x`, which is on by default.
    const isNegated = name.startsWith(NEGATION);
    const given = flags[camelCase(isNegated ? name.slice(NEGATION.length) : name)];
    if (isNegated) {
      if (given === false) options[name] = true;
    } else if (given !== undefined) {
      options[name] = value === PAIRS ? readPairs(given as string[]) : given;
    }
  }
  if (flags.portExpose !== undefined) options.port ??= flags.portExpose;
  // A protocol in the file does not override this flag.
  if (options.restful === true || flags.restApi === true) options.protocol ??= ['http'];
  delete options.restful;
  return options;
}
