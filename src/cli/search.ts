/** `lectern search`: searches the web or the local index, through the client. */
import type { SearchOptions } from '#client/index.ts';
import { SEARCH_FLAGS } from '#generated/cli-flags.ts';
import { type ClientFlags, withClient, withClientFlags } from './client.ts';
import type { CliContext } from './context.ts';
import { CommandError, usageError } from './exit-codes.ts';
import { FlagCommand, givenOptions, Option, withFlags } from './flags.ts';
import { write, writeFileAtomically } from './output.ts';

interface SearchFlags extends ClientFlags {
  readonly index?: boolean;
  readonly provider?: string;
  readonly output?: string;
  readonly json?: boolean;
  readonly stream?: boolean;
}

const output = (flags: string, text: string) => new Option(flags, text).helpGroup('Output:');

export function searchCommand(context: CliContext): FlagCommand {
  const command = new FlagCommand('search')
    .description('Search the web or the local index and read the results.')
    .argument('<query...>', 'query; may contain operators such as `site:`')
    .addOption(new Option('--index', 'Search the local index only; same as --provider reader.').helpGroup('Search:'))
    .addOption(output('-o, --output <file>', 'Output file; standard output if omitted.'))
    .addOption(output('--json', 'Print JSON.'))
    .addOption(output('--stream', 'Print one line of JSON whenever more results have been read.'));
  return withClientFlags(withFlags(command, SEARCH_FLAGS))
    .addHelpText('after', EXAMPLES)
    .action((query: string[], flags: SearchFlags) => search(query.join(' '), flags, context));
}

const EXAMPLES = `
Examples:
  lectern search "what is a reader" --num 5
  lectern search "green tea" --index --passages=2000
  lectern search tea --site example.com --filetype pdf --json`;

async function search(query: string, flags: SearchFlags, context: CliContext): Promise<void> {
  if (flags.index && flags.provider !== undefined) throw usageError('give --index or --provider, not both');
  const given = givenOptions(SEARCH_FLAGS, flags as Readonly<Record<string, unknown>>);
  const options: SearchOptions = { ...given, ...(flags.index && { provider: 'reader' }) };
  const onHeaders = (headers: Headers) => {
    const notice = headers.get('x-search-notice');
    if (notice !== null) context.note(`lectern: ${notice}`);
  };
  const call = { signal: context.signal, onHeaders };
  await withClient(context, flags, async ({ client }) => {
    if (flags.stream) {
      for await (const step of client.searchStream(query, options, call))
        await write(context.output, `${JSON.stringify(step)}\n`);
      return;
    }
    const answer = flags.json
      ? `${JSON.stringify((await client.search(query, options, call)).pages, null, 2)}\n`
      : withNewline(await client.searchText(query, options, call));
    if (answer.trim() === '') throw new CommandError('failed', 'no results');
    if (flags.output === undefined) await write(context.output, answer);
    else await writeFileAtomically(flags.output, answer);
  });
}

const withNewline = (text: string): string => (text === '' || text.endsWith('\n') ? text : `${text}\n`);
