/** `lectern read`: pages, files and sites into Markdown, through the client. */
import type { Client, ReadOptions } from '#client/index.ts';
import { READ_FLAGS } from '#generated/cli-flags.ts';
import { type ClientFlags, type OpenClient, serverOf, withClient, withClientFlags } from './client.ts';
import type { CliContext } from './context.ts';
import { CommandError, usageError } from './exit-codes.ts';
import { FlagCommand, givenOptions, Option, Switch, withFlags } from './flags.ts';
import { parseInteger } from './numbers.ts';
import { extensionOf, isPicture, write, writeFileAtomically } from './output.ts';
import { readMany } from './read-many.ts';
import { readSite, type SiteFlags } from './read-site.ts';
import { loadTarget, parseSource, type Source } from './sources.ts';

export interface ReadFlags extends ClientFlags, SiteFlags {
  readonly url?: string;
  readonly respondWith?: string;
  readonly markdownChunking?: string;
  readonly output?: string;
  readonly outDir?: string;
  readonly force?: boolean;
  readonly fail?: boolean;
  readonly json?: boolean;
  readonly stream?: boolean;
  readonly list?: string;
  readonly site?: boolean;
}

/** What one run reads by, and what it writes. */
export interface ReadContext {
  readonly client: Client;
  readonly options: ReadOptions;
  readonly flags: ReadFlags;
  readonly context: CliContext;
}

/** Between pages on the standard output. */
export const PAGE_SEPARATOR = '\n---\n\n';

export function readCommand(context: CliContext): FlagCommand {
  const command = new FlagCommand('read')
    .description('Read pages, files or a whole site into Markdown.')
    .argument('[what...]', 'addresses, files, or `-` for the standard input')
    .addOption(output('-o, --output <file>', 'Write into this file instead of to the standard output.'))
    .addOption(
      output('--out-dir <dir>', 'Write a file for each into this folder. What is there already is not read again.'),
    )
    .addOption(output('--force', 'With --out-dir: read again what is there.'))
    .addOption(
      output(
        '--fail',
        'Write nothing of a target that answers with 4xx or 5xx, and end with exit code 22, as curl does.',
      ),
    )
    .addOption(output('--json', 'The page in JSON; of several, a line of JSON for each.'))
    .addOption(output('--stream', 'A line of JSON for each rendition as the page gets better.'))
    .addOption(many('--list <file>', 'Also read what stands in this file, a line each; `-` for the standard input.'))
    .addOption(
      many('--concurrency <count>', 'How many to read at once. Default: 4; of a site 1 of each host.').argParser(
        parseInteger,
      ),
    );
  return withClientFlags(withFlags(withSiteFlags(command), READ_FLAGS))
    .addHelpText('after', EXAMPLES)
    .action((what: string[], flags: ReadFlags) => read(what, flags, context));
}

const EXAMPLES = `
A switch is on without a value and takes one behind \`=\`: --with-links-summary=all, --with-iframe=quoted.

Examples:
  lectern read https://example.com -f text
  lectern read https://example.com -f pageshot -o page.png
  lectern read *.pdf --out-dir markdown
  lectern read --list addresses.txt --out-dir pages --concurrency 8
  curl -s https://example.com | lectern read - --url https://example.com
  lectern read --site https://example.com/docs --limit 500 --out-dir docs`;

const output = (flags: string, text: string) => new Option(flags, text).helpGroup('Output:');
const many = (flags: string, text: string) => new Option(flags, text).helpGroup('Several:');
const site = (flags: string, text: string) => new Option(flags, text).helpGroup('A whole site:');

function withSiteFlags(command: FlagCommand): FlagCommand {
  const repeated = (text: string, before: string[] | undefined) => [...(before ?? []), text];
  const without = (flag: string, text: string) => new Switch(flag, text).helpGroup('A whole site:');
  return command
    .addOption(site('--site', 'Follow the links of the page within its site.'))
    .addOption(site('--limit <pages>', 'Read so many at most. Default: 100.').argParser(parseInteger))
    .addOption(site('--depth <links>', 'So many links away at most. Default: 3.').argParser(parseInteger))
    .addOption(
      site(
        '--scope <scope>',
        'What belongs to the site: what lies below the address, its host, or its whole domain. Default: path.',
      ).choices(['path', 'host', 'domain']),
    )
    .addOption(
      site(
        '--include <pattern>',
        'Only addresses that match; a glob or a /pattern/. May be given several times.',
      ).argParser(repeated),
    )
    .addOption(site('--exclude <pattern>', 'No addresses that match. May be given several times.').argParser(repeated))
    .addOption(without('--no-sitemap', 'Do not look for sitemaps.'))
    .addOption(without('--no-robots', 'Do not mind robots.txt: only for sites of your own.'))
    .addOption(site('--delay <ms>', 'Wait so long between two reads of a host.').argParser(parseInteger))
    .addOption(site('--resume <id>', 'Go on with a run that was stopped.'))
    .addOption(site('--cancel <id>', 'Give up a run that was stopped.'));
}

async function read(what: readonly string[], flags: ReadFlags, context: CliContext): Promise<void> {
  const options = givenOptions(READ_FLAGS, { ...flags, url: undefined }) as ReadOptions;
  if (flags.concurrency !== undefined && flags.concurrency < 1) throw usageError('--concurrency must be at least 1');
  if (flags.output !== undefined && flags.outDir !== undefined)
    throw usageError('give --output or --out-dir, not both');
  if (flags.site || flags.resume !== undefined || flags.cancel !== undefined)
    return readSite(what, { options, flags, context });
  const sources = what.map(parseSource);
  if (sources.length === 0 && flags.list === undefined)
    throw usageError('say what to read: `lectern read https://example.com`, a file, or `-` for the standard input');
  if (sources.filter(({ kind }) => kind === 'input').length + (flags.list === '-' ? 1 : 0) > 1)
    throw usageError('the standard input can be read once');
  const [first] = sources;
  const isAlone = first !== undefined && sources.length === 1 && flags.list === undefined && flags.outDir === undefined;
  if (!isAlone && flags.output !== undefined)
    throw usageError('several answers do not go into one file: give --out-dir');
  checkPictureOutput(flags, context);
  const work = async ({ client, server }: OpenClient) => {
    const reading: ReadContext = { client, options, flags, context };
    if (flags.stream) await streamAll(sources, reading);
    else if (isAlone) await readOne(first, reading);
    else await readMany(sources, reading, server !== undefined);
  };
  await withClient(context, flags, work, { rooms: 'reader' });
}

function checkPictureOutput(
  { respondWith, output, outDir, json, stream, ...flags }: ReadFlags,
  context: CliContext,
): void {
  const isNamed = respondWith?.split('+').some((format) => isPicture(format.trim().toLowerCase()));
  // It would be gone when the program ends.
  if (isNamed && (json || stream) && !serverOf(context, flags))
    throw usageError(
      'in JSON a picture is an address of a server: name one with --server, or give -f pageshot -o page.png',
    );
  if (isPicture(respondWith) && !output && !outDir && !json && !stream && context.output.isTTY)
    throw usageError('a picture is not for a terminal: give --output page.png');
}

async function readOne(source: Source, reading: ReadContext): Promise<void> {
  const { flags, context } = reading;
  const { answer, status, told = [] } = await readAnswer(source, reading);
  if (isErrorStatus(status)) {
    if (flags.fail) throw targetStatusError(source.name, status);
    context.note(`lectern: ${targetStatusError(source.name, status).message}`);
  }
  for (const line of told) context.note(line);
  if (flags.output === undefined) await write(context.output, answer);
  else await writeFileAtomically(flags.output, answer);
}

export interface Answer {
  /** What is written. */
  readonly answer: string | Uint8Array;
  /** What the target answered with, if it is one that answers and that was told. */
  readonly status: number | undefined;
  /** What a reader of it should know and what is written has no room for. */
  readonly told?: readonly string[];
}

/** Whether a target answered with an error. */
export const isErrorStatus = (status: number | undefined): status is number => status !== undefined && status >= 400;

export const targetStatusError = (source: string, status: number): CommandError =>
  new CommandError('targetStatus', `${source}: the target answered with status ${status}`);

/** What is written for one of them; of several in JSON a line. */
export async function readAnswer(source: Source, reading: ReadContext, isLine = false): Promise<Answer> {
  const { client, options, flags, context } = reading;
  const call = {
    signal: context.signal,
    onHeaders: (headers: Headers) => noteStaleCopy(source.name, headers, context),
  };
  const target = await loadTarget(source, context, flags.url);
  if (flags.json) {
    const { page } = await client.read(target, options, call);
    const answer = isLine ? JSON.stringify({ source: source.name, page }) : JSON.stringify(page, null, 2);
    return { answer: `${answer}\n`, status: page.targetStatus };
  }
  const picture = isPicture(flags.respondWith);
  // A picture that lies on the server is at an address of its own, which knows nothing of the target.
  const asked = picture && flags.fail ? { ...options, doNotTrack: true } : options;
  const { bytes, targetStatus: status, warning } = await client.readBytes(target, asked, call);
  const told =
    warning && !hasHeader(flags) ? warningLines(warning).map((line) => `lectern: ${source.name}: ${line}`) : [];
  if (picture) return { answer: bytes, status, told };
  const text = new TextDecoder().decode(bytes);
  return { answer: text.endsWith('\n') ? text : `${text}\n`, status, told };
}

/** A text has no place for warnings in most of its forms, and a picture has none. */
function noteStaleCopy(name: string, headers: Headers, { note }: CliContext): void {
  const keptAt = headers.get('x-stale-copy');
  if (keptAt !== null) note(`lectern: ${name}: could not be read now, this is a copy of ${keptAt}`);
}
/** Whether the text that is written says itself what a reader should know. */
const hasHeader = ({ respondWith, markdownChunking }: ReadFlags): boolean =>
  !markdownChunking && !/^(?:html|text|screenshot|pageshot)$/.test(respondWith?.trim().toLowerCase() ?? '');

/** The status of the target and a stale copy are told by themselves. */
const warningLines = (warning: string): string[] =>
  warning.split(' | ').filter((line) => !/^(?:Target URL returned error|This page could not be read now)/.test(line));

async function streamAll(sources: readonly Source[], { client, options, flags, context }: ReadContext): Promise<void> {
  if (flags.list !== undefined || flags.outDir !== undefined)
    throw usageError('--stream goes to the standard output, for what is named on the command line');
  let refused: CommandError | undefined;
  for (const source of sources) {
    const target = await loadTarget(source, context, flags.url);
    let status: number | undefined;
    for await (const { event, page } of client.readStream(target, options, { signal: context.signal })) {
      await write(context.output, `${JSON.stringify({ source: source.name, event, page })}\n`);
      status = page.targetStatus;
    }
    if (flags.fail && isErrorStatus(status)) refused ??= targetStatusError(source.name, status);
  }
  if (refused) throw refused;
}

export const fileExtensionOf = ({ respondWith, json }: ReadFlags): string => extensionOf(respondWith, json ?? false);
