/** `lectern read`: reads pages, files and sites as Markdown, through the client. */
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

/** Client, options and output of one run. */
export interface ReadContext {
  readonly client: Client;
  readonly options: ReadOptions;
  readonly flags: ReadFlags;
  readonly context: CliContext;
}

/** Separates pages on standard output. */
export const PAGE_SEPARATOR = '\n---\n\n';

export function readCommand(context: CliContext): FlagCommand {
  const command = new FlagCommand('read')
    .description('Read pages, files or a whole site as Markdown.')
    .argument('[what...]', 'URLs, files, or `-` for standard input')
    .addOption(output('-o, --output <file>', 'Output file; standard output if omitted.'))
    .addOption(
      output('--out-dir <dir>', 'Output folder with one file per target. Targets whose file exists are skipped.'),
    )
    .addOption(output('--force', 'With --out-dir: read targets again even if their file exists.'))
    .addOption(
      output('--fail', 'Write nothing for targets that answer with 4xx or 5xx, and exit with code 22 like curl.'),
    )
    .addOption(output('--json', 'Print JSON; for several targets one line each.'))
    .addOption(output('--stream', 'Print one line of JSON for each rendition while the page loads.'))
    .addOption(
      many('--list <file>', 'Also read the targets listed in this file, one per line; `-` for standard input.'),
    )
    .addOption(
      many('--concurrency <count>', 'Concurrent reads. Default: 4; with --site 1 per host.').argParser(parseInteger),
    );
  return withClientFlags(withFlags(withSiteFlags(command), READ_FLAGS))
    .addHelpText('after', EXAMPLES)
    .action((what: string[], flags: ReadFlags) => read(what, flags, context));
}

const EXAMPLES = `
A switch is on without a value; a value follows \`=\`: --with-links-summary=all, --with-iframe=quoted.

Examples:
  lectern read https://example.com -f text
  lectern read https://example.com -f pageshot -o page.png
  lectern read *.pdf --out-dir markdown
  lectern read --list urls.txt --out-dir pages --concurrency 8
  curl -s https://example.com | lectern read - --url https://example.com
  lectern read --site https://example.com/docs --limit 500 --out-dir docs`;

const output = (flags: string, text: string) => new Option(flags, text).helpGroup('Output:');
const many = (flags: string, text: string) => new Option(flags, text).helpGroup('Several targets:');
const site = (flags: string, text: string) => new Option(flags, text).helpGroup('A whole site:');

function withSiteFlags(command: FlagCommand): FlagCommand {
  const repeated = (text: string, before: string[] | undefined) => [...(before ?? []), text];
  const without = (flag: string, text: string) => new Switch(flag, text).helpGroup('A whole site:');
  return command
    .addOption(site('--site', 'Follow links within the site of the page.'))
    .addOption(site('--limit <pages>', 'Maximum number of pages. Default: 100.').argParser(parseInteger))
    .addOption(
      site('--depth <links>', 'Maximum distance from the start, in links. Default: 3.').argParser(parseInteger),
    )
    .addOption(
      site(
        '--scope <scope>',
        'Extent of the site: URLs below the start path, its host, or its domain. Default: path.',
      ).choices(['path', 'host', 'domain']),
    )
    .addOption(
      site('--include <pattern>', 'Read only URLs that match this glob or /regular expression/. Repeatable.').argParser(
        repeated,
      ),
    )
    .addOption(site('--exclude <pattern>', 'Skip URLs that match. Repeatable.').argParser(repeated))
    .addOption(without('--no-sitemap', 'Do not look for sitemaps.'))
    .addOption(without('--no-robots', 'Ignore robots.txt; only for your own sites.'))
    .addOption(site('--delay <ms>', 'Delay between reads from the same host, in ms.').argParser(parseInteger))
    .addOption(site('--resume <id>', 'Resume an interrupted run.'))
    .addOption(site('--cancel <id>', 'Cancel an interrupted run.'));
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
    throw usageError('nothing to read: give a URL, a file, or `-` for standard input');
  if (sources.filter(({ kind }) => kind === 'input').length + (flags.list === '-' ? 1 : 0) > 1)
    throw usageError('standard input can be used only once');
  const [first] = sources;
  const isAlone = first !== undefined && sources.length === 1 && flags.list === undefined && flags.outDir === undefined;
  if (!isAlone && flags.output !== undefined) throw usageError('--output takes one target: use --out-dir for several');
  checkPictureOutput(flags, context);
  const work = async ({ client, server }: OpenClient) => {
    const reading: ReadContext = { client, options, flags, context };
    if (flags.stream) await streamAll(sources, reading);
    else if (isAlone) await readOne(first, reading);
    else await readMany(sources, reading, server !== undefined);
  };
  const readsPages = flags.list !== undefined || sources.some(({ kind }) => kind === 'url');
  await withClient(context, flags, work, { faces: 'reader', rendersPages: readsPages && options.engine !== 'direct' });
}

function checkPictureOutput(
  { respondWith, output, outDir, json, stream, ...flags }: ReadFlags,
  context: CliContext,
): void {
  const isNamed = respondWith?.split('+').some((format) => isPicture(format.trim().toLowerCase()));
  // In JSON, an image would be a URL on a server in this process, which stops working when the command ends.
  if (isNamed && (json || stream) && !serverOf(context, flags))
    throw usageError('JSON contains a screenshot only as a URL on a server: use --server, or -f pageshot -o page.png');
  if (isPicture(respondWith) && !output && !outDir && !json && !stream && context.output.isTTY)
    throw usageError('a screenshot cannot be shown in a terminal: use --output page.png');
}

async function readOne(source: Source, reading: ReadContext): Promise<void> {
  const { flags, context } = reading;
  const { answer, status, notes = [] } = await readAnswer(source, reading);
  if (isErrorStatus(status)) {
    if (flags.fail) throw targetStatusError(source.name, status);
    context.note(`lectern: ${targetStatusError(source.name, status).message}`);
  }
  for (const line of notes) context.note(line);
  if (flags.output === undefined) await write(context.output, answer);
  else await writeFileAtomically(flags.output, answer);
}

export interface Answer {
  /** The output to write. */
  readonly answer: string | Uint8Array;
  /** HTTP status of the target, if known. */
  readonly status: number | undefined;
  /** Warnings that the output itself does not contain. */
  readonly notes?: readonly string[];
}

/** Whether the status of a target is an error. */
export const isErrorStatus = (status: number | undefined): status is number => status !== undefined && status >= 400;

export const targetStatusError = (source: string, status: number): CommandError =>
  new CommandError('targetStatus', `${source}: the target responded with status ${status}`);

/** Reads one source and formats the output. With `isLine`, JSON is written on one line. */
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
  // With `doNotTrack`, the response is the image itself, and its headers contain the status of the target.
  const readOptions = picture && flags.fail ? { ...options, doNotTrack: true } : options;
  const { bytes, targetStatus: status, warning } = await client.readBytes(target, readOptions, call);
  const notes =
    warning && !hasHeader(flags) ? warningLines(warning).map((line) => `lectern: ${source.name}: ${line}`) : [];
  if (picture) return { answer: bytes, status, notes };
  const text = new TextDecoder().decode(bytes);
  return { answer: text.endsWith('\n') ? text : `${text}\n`, status, notes };
}

/** Reports a stale copy on standard error, because most text formats and images cannot indicate it. */
function noteStaleCopy(name: string, headers: Headers, { note }: CliContext): void {
  const keptAt = headers.get('x-stale-copy');
  if (keptAt !== null) note(`lectern: ${name}: could not be read now; this is a stale copy of ${keptAt}`);
}
/** Whether the text starts with a header that contains warnings. */
const hasHeader = ({ respondWith, markdownChunking }: ReadFlags): boolean =>
  !markdownChunking && !/^(?:html|text|screenshot|pageshot)$/.test(respondWith?.trim().toLowerCase() ?? '');

/** Removes the warnings about the target's status and about stale copies, which are reported separately. */
const warningLines = (warning: string): string[] =>
  warning.split(' | ').filter((line) => !/^(?:Target URL returned error|This page could not be read now)/.test(line));

async function streamAll(sources: readonly Source[], { client, options, flags, context }: ReadContext): Promise<void> {
  if (flags.list !== undefined || flags.outDir !== undefined)
    throw usageError('--stream cannot be combined with --list or --out-dir: name the targets as arguments');
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
