/** `lectern search`: the web, or the pages that were read, through the client. */
import type { SearchOptions } from '#client/index.ts';
import { SEARCH_FLAGS } from '#generated/cli-flags.ts';
import { type ClientFlags, inClient, withClientFlags } from './client.ts';
import type { CliContext } from './context.ts';
import { CommandError, usageError } from './exit-codes.ts';
import { FlagCommand, givenOptions, Option, withFlags } from './flags.ts';
import { write, writeWhole } from './out.ts';

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
    .description('Search the web, or what was read, and read what is found.')
    .argument('<query...>', 'what to search for; operators such as `site:` are understood')
    .addOption(
      new Option('--index', 'Search only the pages that were read; the same as --provider reader.').helpGroup(
        'Search:',
      ),
    )
    .addOption(output('-o, --output <file>', 'Write into this file instead of to the standard output.'))
    .addOption(output('--json', 'The results in JSON.'))
    .addOption(output('--stream', 'A line of JSON each time that more of the results have been read.'));
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
  await inClient(context, flags, async ({ client }) => {
    if (flags.stream) {
      for await (const step of client.searchStream(query, options, call))
        await write(context.output, `${JSON.stringify(step)}\n`);
      return;
    }
    const answer = flags.json
      ? `${JSON.stringify((await client.search(query, options, call)).pages, null, 2)}\n`
      : ended(await client.searchText(query, options, call));
    if (answer.trim() === '') throw new CommandError('failed', 'nothing was found');
    if (flags.output === undefined) await write(context.output, answer);
    else await writeWhole(flags.output, answer);
  });
}

const ended = (text: string): string => (text === '' || text.endsWith('\n') ? text : `${text}\n`);
