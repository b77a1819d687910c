/** `lectern read --site`: crawls a site and writes its pages; an interrupted run can be resumed. */
import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import type { Client, Page, ReadOptions } from '#client/index.ts';
import { withClient } from './client.ts';
import type { CliContext } from './context.ts';
import { CommandError, exitOfMany, usageError } from './exit-codes.ts';
import { fileExists, fileNameFor, isPicture, write, writeFileAtomically } from './output.ts';
import { bar, count, createProgress, type Progress } from './progress.ts';
import { fileExtensionOf, isErrorStatus, PAGE_SEPARATOR, type ReadFlags } from './read.ts';
import { formatCounts, increment } from './read-many.ts';

export interface SiteFlags {
  readonly limit?: number;
  readonly depth?: number;
  readonly scope?: 'path' | 'host' | 'domain';
  readonly include?: string[];
  readonly exclude?: string[];
  readonly noSitemap?: string;
  readonly noRobots?: string;
  readonly delay?: number;
  readonly concurrency?: number;
  readonly resume?: string;
  readonly cancel?: string;
}

interface SiteContext {
  readonly options: ReadOptions;
  readonly flags: ReadFlags;
  readonly context: CliContext;
}

/** A line of the crawl's result. */
interface PageLine {
  readonly seq: number;
  readonly event: 'page' | 'failed' | 'skipped';
  readonly url: string;
  readonly page?: Page;
  /** HTTP status of the page, if it is the cause of the failure. */
  readonly status?: number;
  readonly error?: { readonly message: string };
  readonly reason?: string;
}

interface Run {
  readonly id: string;
  /** Sequence number of the last line already written. */
  readonly after: number;
}

/** Throws CommandError if a page failed or the run was interrupted. */
export async function readSite(what: readonly string[], { options, flags, context }: SiteContext): Promise<void> {
  if (flags.cancel !== undefined) return cancel(flags.cancel, flags, context);
  if (flags.resume === undefined && what.length === 0) throw usageError('no start URL given: pass a URL of the site');
  if (flags.resume !== undefined && what.length > 0) throw usageError('--resume continues a run: give no URL');
  if (flags.output !== undefined || flags.list !== undefined || flags.stream)
    throw usageError('--site cannot be combined with --output, --list or --stream: use --out-dir or standard output');
  if (isPicture(flags.respondWith)) throw usageError('--site cannot take screenshots: give the URLs with --list');
  if (flags.outDir !== undefined) await mkdir(flags.outDir, { recursive: true });
  await withClient(
    context,
    flags,
    async ({ client, server }) => {
      const run =
        flags.resume === undefined ? await start(client, what, { options, flags, context }) : runOf(flags.resume);
      await follow(client, run, { flags, context, atServer: server !== undefined });
    },
    { jobs: 'crawl', rendersPages: options.engine !== 'direct' },
  );
}

/** Cancels a run. The results for pages that were already read are retained. */
async function cancel(run: string, flags: ReadFlags, context: CliContext): Promise<void> {
  await withClient(context, flags, async ({ client }) => {
    const { crawl_id: id, status } = await client.crawl.cancel(runOf(run).id, { signal: context.signal });
    context.note(`lectern: run ${id} is ${status}`);
  });
}

/** Parses `id`, or `id@line` to continue after a line. */
function runOf(text: string): Run {
  const [id = '', line = '0'] = text.split('@');
  if (!/^\d+$/.test(line))
    throw usageError(`${text} is not a run id: use the id printed when the run started or stopped`);
  return { id, after: Number(line) };
}

async function start(client: Client, urls: readonly string[], { options, flags, context }: SiteContext): Promise<Run> {
  const { limit, depth, scope, include, exclude, noSitemap, noRobots, delay, concurrency } = flags;
  const [first] = urls;
  const request: Parameters<Client['crawl']['start']>[0] = {
    ...(urls.length > 1 ? { urls } : { url: first! }),
    ...(limit !== undefined && { limit }),
    ...(depth !== undefined && { depth }),
    ...(scope !== undefined && { scope }),
    ...(include !== undefined && { include }),
    ...(exclude !== undefined && { exclude }),
    ...(isOn(noSitemap) && { sitemap: false }),
    ...(isOn(noRobots) && { robots: false }),
    ...(delay !== undefined && { delayMs: delay }),
    ...(concurrency !== undefined && { concurrency }),
    options,
  };
  const { crawl_id: id } = await client.crawl.start(request, { signal: context.signal }).catch(async (error: Error) => {
    throw error.name === 'ResourceLimitExceededError' ? await tooManyRuns(error, client) : error;
  });
  context.note(`lectern: run ${id}`);
  return { id, after: 0 };
}

/** Adds the open runs to the error: interrupted runs count against the limit until they end or are cancelled. */
async function tooManyRuns({ message }: Error, client: Client): Promise<CommandError> {
  const runs = await client.crawl.list({ limit: 100 });
  const open = runs
    .filter(({ completed_at }) => completed_at === null)
    .map(({ crawl_id, url }) => `${crawl_id} ${url}`);
  return new CommandError(
    'failed',
    `${message}; resume one (\`lectern read --site --resume <id>\`) or cancel one (\`--cancel <id>\`):\n  ${open.join('\n  ')}`,
  );
}

const isOn = (text: string | undefined): boolean => text !== undefined && text !== 'false';

interface FollowOptions {
  readonly flags: ReadFlags;
  readonly context: CliContext;
  readonly atServer: boolean;
}

async function follow(client: Client, run: Run, { flags, context, atServer }: FollowOptions): Promise<void> {
  const progress = createProgress(context);
  const counts = { page: 0, failed: 0, skipped: 0, refused: 0 };
  const statuses = new Map<string, number>();
  let last = run.after;
  let isForbidden = false;
  const looking = showProgress(client, run.id, context, () => counts, progress);
  try {
    const lines = client.crawl.pages(run.id, { after: run.after, follow: true, signal: context.signal });
    for await (const line of lines as AsyncIterable<unknown> as AsyncIterable<PageLine>) {
      if (line.event === 'page') {
        await writePage(line, { flags, context, isFirst: counts.page === 0 });
        const keptAt = line.page?.metadata?.['lectern:staleCopy'];
        if (keptAt) progress.note(`lectern: ${line.url}: could not be read now; this is a stale copy of ${keptAt}`);
      } else if (line.event === 'failed') progress.note(`lectern: ${line.url}: ${line.error?.message}`);
      isForbidden ||= line.reason === 'robots';
      const isError = line.event === 'failed' && isErrorStatus(line.status);
      if (isError) increment(statuses, String(line.status));
      counts[isError ? 'refused' : line.event]++;
      last = line.seq;
    }
  } catch (error) {
    if (!context.signal.aborted) {
      context.note(`lectern: ${resumeCommand(run.id, last, flags)} continues here`);
      throw error;
    }
  } finally {
    looking.end();
    progress.end();
  }
  const summary = [
    `${count(counts.page)} read`,
    counts.refused > 0 && `${count(counts.refused)} responded with an error status (${formatCounts(statuses)})`,
    counts.failed > 0 && `${count(counts.failed)} failed`,
    counts.skipped > 0 && `${count(counts.skipped)} skipped`,
  ]
    .filter(Boolean)
    .join(', ');
  if (context.signal.aborted) throw interrupted(summary, run.id, last, { flags, atServer });
  const job = await client.crawl.get(run.id);
  if (job.status !== 'completed')
    throw new CommandError('failed', `the run is ${job.status}${job.error ? `: ${job.error}` : ''} (${summary})`);
  const { page: done, failed, refused } = counts;
  const exit = exitOfMany(flags.fail ? { done, failed, refused } : { done, failed: failed + refused });
  if (exit !== 'ok') throw new CommandError(exit, summary);
  if (counts.page === 0 && isForbidden)
    throw new CommandError('failed', `${summary}: robots.txt forbids it; use --no-robots only for your own sites`);
  context.note(`lectern: ${summary}`);
}

function interrupted(
  summary: string,
  id: string,
  last: number,
  { flags, atServer }: Pick<FollowOptions, 'flags' | 'atServer'>,
): CommandError {
  const goesOn = atServer ? 'the server continues it; ' : '';
  return new CommandError(
    'interrupted',
    `stopped: ${summary}; ${goesOn}${resumeCommand(id, last, flags)} continues here, \`--cancel ${id}\` cancels it`,
  );
}

const resumeCommand = (id: string, last: number, { outDir }: ReadFlags): string =>
  `\`lectern read --site --resume ${id}@${last}${outDir === undefined ? '' : ` --out-dir ${outDir}`}\``;

const POLL_MS = 1_000;

/** Shows how many of the known URLs have been read, if there is a terminal. */
function showProgress(
  client: Client,
  id: string,
  context: CliContext,
  counts: () => { readonly page: number; readonly failed: number; readonly skipped: number; readonly refused: number },
  progress: Progress,
) {
  const show = async (): Promise<void> => {
    const { stats, limit } = await client.crawl.get(id, { signal: context.signal });
    const { page, skipped, ...others } = counts();
    const failed = others.failed + others.refused;
    const done = page + failed + skipped;
    const total = Math.max(Math.min(stats.found, Number(limit) || stats.found), done);
    progress.show(
      `${bar(total ? done / total : 0)}  ${count(done)} of ${count(total)} known${failed ? `, ${count(failed)} failed` : ''}`,
    );
  };
  const timer = context.rewrite ? setInterval(() => void show().catch(() => {}), POLL_MS) : undefined;
  return { end: () => clearInterval(timer) };
}

interface WriteOptions {
  readonly flags: ReadFlags;
  readonly context: CliContext;
  readonly isFirst: boolean;
}

async function writePage({ url, page }: PageLine, { flags, context, isFirst }: WriteOptions): Promise<void> {
  if (!page) return;
  if (flags.outDir === undefined) {
    if (flags.json) await write(context.output, `${JSON.stringify({ source: url, page })}\n`);
    else await write(context.output, `${isFirst ? '' : PAGE_SEPARATOR}${renderPage(page, flags)}`);
    return;
  }
  const file = path.join(flags.outDir, fileNameFor(url, fileExtensionOf(flags)));
  if (!flags.force && fileExists(file)) return;
  await writeFileAtomically(file, flags.json ? `${JSON.stringify(page, null, 2)}\n` : renderPage(page, flags));
}

/** Formats a page like the reader's text response. */
function renderPage(page: Page, { respondWith }: ReadFlags): string {
  const format = respondWith?.trim().toLowerCase();
  if (format === 'html') return `${page.html ?? ''}\n`;
  if (format === 'text') return `${page.text ?? ''}\n`;
  if (format === 'frontmatter') return `${page.content ?? ''}\n`;
  const published = page.publishedTime && `Published Time: ${page.publishedTime}`;
  const facts = [published, page.warning?.replace(/^/gm, 'Warning: ')].filter(Boolean);
  const details = facts.length ? `\n${facts.join('\n\n')}\n` : '';
  return `Title: ${page.title}\n\nURL Source: ${page.url}\n${details}\nMarkdown Content:\n${page.content ?? ''}\n`;
}
