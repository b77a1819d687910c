/** Fills the index in bulk: from a page and its links, from a sitemap, or from a folder of files. */
import { readFileSync, statSync } from 'node:fs';
import { readdir, readFile, stat } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { Problem } from '#errors.ts';
import { isCapabilityUrl } from '#net/capability-url.ts';
import type { GuardedFetch } from '#net/fetch/fetch.ts';
import type { Robots } from '#net/robots/robots.ts';
import { fetchSitemap } from '#net/robots/sitemap.ts';
import { blobUrl, type Options, type Page, type Reader, readUpload, resolve } from '#reader/index.ts';
import type { IndexablePage, LocalIndex } from '../local-index.ts';
import { type IndexShared, ONLY_ALL, OPERATOR } from '../owners.ts';
import { indexUrl } from '../write/prepare-page.ts';
import { exclusionOf, toIndexablePage } from './indexable.ts';
import type { Journal } from './journal.ts';

export interface FillTools {
  readonly index: Pick<LocalIndex, 'add' | 'remove'>;
  readonly reader: Reader;
  /** Whether to index pages that forbid storing copies (`no-store`). */
  readonly keepsNoStore: boolean;
  /** With `all`, pages at capability URLs are indexed too. */
  readonly shared: IndexShared;
  readonly fetch: GuardedFetch;
  readonly robots: Robots;
  readonly journal: Journal;
}

/** The options of all reads, which take longer to resolve than to use. */
interface ReadTools extends FillTools {
  readonly withLinks: Options;
  readonly withoutLinks: Options;
}

export interface FillOptions {
  /** Maximum distance from the first page, in links, within its host; 0 reads only the first page. */
  readonly depth: number;
  readonly maxPages: number;
  /** Delay between reads from the same host, in ms. */
  readonly delayMs: number;
  /** The product token to look up in robots.txt files. */
  readonly agent: string;
  readonly signal: AbortSignal;
  readonly onProgress: (progress: FillProgress) => void;
}

export interface FillProgress {
  readonly url: string;
  readonly outcome: 'added' | 'unchanged' | 'refused' | 'failed';
  /** Why the page was refused or could not be read. */
  readonly reason?: string | undefined;
  readonly done: number;
  /** Number of URLs found so far, processed or not. */
  readonly known: number;
}

export interface FillSummary {
  added: number;
  unchanged: number;
  /**
   * Number of URLs refused because of robots.txt, because the page itself forbids indexing, or because the URL is
   * secret.
   */
  refused: number;
  failed: number;
  /** Number of URLs already completed by an earlier, interrupted run. */
  before: number;
}

/** Number of hosts read in parallel, with one page of each host at a time. */
const HOSTS_AT_ONCE = 4;
const FILES_AT_ONCE = 4;
/**
 * Pages that have been read wait until the index has stored them, while the next ones are read. Maximum number of
 * waiting pages, and of their characters.
 */
const MAX_STORING = 1_024;
const MAX_STORING_CHARACTERS = 16_000_000;
/** How long a worker waits if all hosts are busy, in milliseconds. */
const IDLE_MS = 20;
const MAX_SITEMAPS = 500;
const MAX_FILE_BYTES = 200_000_000;
/**
 * Files up to this size are read at once. The thread pool of Node takes longer than reading them, with one task for each
 * system call.
 */
const SMALL_FILE_BYTES = 1_000_000;

interface Task {
  readonly url: string;
  readonly depth: number;
  /** URL of a file in the index. It excludes the folders above the source, which are private. */
  readonly shown?: string;
}

/** Throws if the source itself cannot be read. Individual pages that cannot be read are reported and skipped. */
export async function fillIndex(source: string, tools: FillTools, options: FillOptions): Promise<FillSummary> {
  const { journal } = tools;
  const { signal, maxPages } = options;
  const summary: FillSummary = { added: 0, unchanged: 0, refused: 0, failed: 0, before: 0 };
  const done = new Map(journal.before.map(({ url, found }) => [url, found ?? []]));
  const seen = new Set<string>();
  const queues = new Map<string, Task[]>();
  let known = 0;

  const enqueue = (task: Task): void => {
    if (seen.has(task.url) || known >= maxPages) return;
    seen.add(task.url);
    known += 1;
    const before = done.get(task.url);
    if (before) {
      summary.before += 1;
      for (const url of before) enqueue({ url, depth: task.depth - 1 });
      return;
    }
    const host = new URL(task.url).host;
    const queue = queues.get(host);
    if (queue) queue.push(task);
    else queues.set(host, [task]);
  };

  const record = async (task: Task, result: Omit<FillProgress, 'url' | 'done' | 'known'>, found: readonly string[]) => {
    summary[result.outcome] += 1;
    await journal.write({ url: task.url, ...(found.length > 0 && { found }) });
    const { before, ...counts } = summary;
    const count = Object.values(counts).reduce((sum, value) => sum + value, before);
    options.onProgress({ url: task.url, ...result, done: count, known });
  };

  const storing = createStoring(tools.index);
  const readTools: ReadTools = {
    ...tools,
    withLinks: resolve({ withLinksSummary: 'all', retainImages: 'alt' }),
    withoutLinks: resolve({ withLinksSummary: false, retainImages: 'alt' }),
  };
  const perform = async (task: Task): Promise<void> => {
    const read = await readTask(task, readTools, options);
    signal.throwIfAborted();
    for (const url of read.found) enqueue({ url, depth: task.depth - 1 });
    if (!('page' in read)) return record(task, read, read.found);
    await storing.add(read.page, (result) => record(task, result, read.found));
    // Web pages are read slowly, so they need not wait together, and an interruption loses less.
    if (!task.url.startsWith('file:')) await storing.finish();
  };

  const { tasks, atOnce } = await listTasks(source, tools, options);
  for (const task of tasks) enqueue(task);
  await runByHost(queues, { atOnce, delayMs: atOnce === FILES_AT_ONCE ? 0 : options.delayMs, signal, perform });
  await storing.finish();
  await journal.remove();
  return summary;
}

type Result = Pick<FillProgress, 'outcome' | 'reason'>;

/**
 * Adds pages to the index without waiting for each. A page is recorded when it has been stored, so that an interrupted
 * run never skips a page that is not in the index.
 */
function createStoring(index: FillTools['index']) {
  const pending = new Set<Promise<void>>();
  let characters = 0;
  let failure: { readonly error: unknown } | undefined;

  const throwFailure = () => {
    if (failure) throw failure.error;
  };
  const store = async (page: IndexablePage | undefined, record: (result: Result) => Promise<void>) => {
    const outcome: Result = await (page ? index.add(page) : Promise.resolve(false)).then(
      (added) => ({ outcome: added ? ('added' as const) : ('unchanged' as const) }),
      (error: Error) => ({ outcome: 'failed' as const, reason: error.message }),
    );
    await record(outcome);
  };

  return {
    /** Resolves when the next page may be read. */
    async add(page: IndexablePage | undefined, record: (result: Result) => Promise<void>): Promise<void> {
      const size = page?.content.length ?? 0;
      characters += size;
      const work: Promise<void> = store(page, record)
        .catch((error: unknown) => {
          failure ??= { error };
        })
        .finally(() => {
          characters -= size;
          pending.delete(work);
        });
      pending.add(work);
      while (pending.size > MAX_STORING || (characters > MAX_STORING_CHARACTERS && pending.size > 1))
        await Promise.race(pending);
      throwFailure();
    },
    async finish(): Promise<void> {
      await Promise.all(pending);
      throwFailure();
    },
  };
}

interface HostSchedule {
  readonly atOnce: number;
  readonly delayMs: number;
  readonly signal: AbortSignal;
  perform(task: Task): Promise<void>;
}

/**
 * Reads several hosts in parallel, but only one page of each host at a time. Files have no host, so they are read in
 * parallel.
 */
async function runByHost(
  queues: Map<string, Task[]>,
  { atOnce, delayMs, signal, perform }: HostSchedule,
): Promise<void> {
  const busy = new Set<string>();
  const work = async (): Promise<void> => {
    for (;;) {
      signal.throwIfAborted();
      const host = [...queues.keys()].find((name) => name === '' || !busy.has(name));
      if (host === undefined) {
        if (busy.size === 0) return;
        await pause(Math.max(IDLE_MS, delayMs), signal);
        continue;
      }
      const queue = queues.get(host)!;
      const task = queue.shift();
      if (!task) {
        queues.delete(host);
        continue;
      }
      busy.add(host);
      try {
        await perform(task);
        if (queue.length > 0 && delayMs > 0) await pause(delayMs, signal);
      } finally {
        busy.delete(host);
      }
    }
  };
  await Promise.all(Array.from({ length: atOnce }, work));
}

const pause = (ms: number, signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', end);
      resolve();
    };
    const timer = setTimeout(end, Math.max(1, ms));
    signal.addEventListener('abort', end, { once: true });
  });

async function listTasks(source: string, tools: FillTools, options: FillOptions) {
  if (!/^https?:\/\//i.test(source)) {
    const root = path.resolve(source);
    const info = await stat(root).catch(() => undefined);
    if (!info) throw new Error(`${source} is neither a URL nor an existing file or folder`);
    const files = info.isDirectory() ? await listFiles(root, options.maxPages) : [root];
    const above = path.dirname(root);
    const tasks = files.map((file) => ({
      url: pathToFileURL(file).href,
      depth: 0,
      shown: pathToFileURL(path.resolve('/', path.relative(above, file))).href,
    }));
    return { tasks, atOnce: FILES_AT_ONCE };
  }
  const url = indexUrl(source);
  if (!url) throw new Error(`${source} is not a valid URL`);
  const pages = /\.(?:xml|txt)(?:\.gz)?$|sitemap/i.test(url.pathname)
    ? await listSitemapUrls(url.href, tools, options)
    : undefined;
  const tasks = pages?.map((page) => ({ url: page, depth: 0 })) ?? [{ url: url.href, depth: options.depth }];
  return { tasks, atOnce: HOSTS_AT_ONCE };
}

/** Lists files by name. Skips names that begin with a dot, and does not follow symbolic links. */
async function listFiles(root: string, limit: number): Promise<string[]> {
  const files: string[] = [];
  const folders = [root];
  for (let folder = folders.pop(); folder !== undefined && files.length < limit; folder = folders.pop()) {
    const entries = (await readdir(folder, { withFileTypes: true })).sort((a, b) => (a.name < b.name ? -1 : 1));
    for (const entry of entries) {
      if (entry.name.startsWith('.') || entry.name === 'node_modules') continue;
      const file = path.join(folder, entry.name);
      if (entry.isDirectory()) folders.push(file);
      else if (entry.isFile() && files.length < limit) files.push(file);
    }
  }
  return files;
}

/** Lists the URLs of a sitemap, or of all sitemaps in a sitemap index; `undefined` if the URL is that of a page. */
async function listSitemapUrls(
  first: string,
  { fetch }: FillTools,
  { maxPages, signal }: FillOptions,
): Promise<string[] | undefined> {
  const pages = new Set<string>();
  const seen = new Set([first]);
  for (const url of seen) {
    if (pages.size >= maxPages) break;
    const sitemap = await fetchSitemap(fetch, url, { signal });
    if (!sitemap) {
      if (url === first) return undefined;
      continue;
    }
    for (const found of sitemap.urls) {
      const normalized = indexUrl(found)?.href;
      if (normalized === undefined) continue;
      if (!sitemap.isIndex) pages.add(normalized);
      else if (seen.size < MAX_SITEMAPS) seen.add(normalized);
    }
  }
  return [...pages].slice(0, maxPages);
}

/** What came of a URL: a page to add, which is `undefined` if it has no content, or the reason why there is none. */
type Read = { readonly found: readonly string[] } & (Result | { readonly page: IndexablePage | undefined });

async function readTask({ url, depth, shown = url }: Task, tools: ReadTools, options: FillOptions): Promise<Read> {
  const { index, reader, robots, keepsNoStore, shared, withLinks, withoutLinks } = tools;
  const { signal, agent } = options;
  try {
    const isFile = url.startsWith('file:');
    if (!isFile) await robots.check(url, agent, { signal });
    const target = isFile ? await fileTarget(url) : { url };
    const rendition = await reader.last({
      target,
      options: depth > 0 ? withLinks : withoutLinks,
      signal,
      keyed: true,
      contentOnly: isFile,
    });
    const { page, finalUrl = page.url } = rendition;
    const found = depth > 0 ? linksOf(page, url) : [];
    const exclusion = isFile ? undefined : exclusionOf(rendition, keepsNoStore);
    if (exclusion) {
      if (exclusion.isPermanent) await index.remove(page.url);
      return { outcome: 'refused', reason: exclusion.reason, found };
    }
    const isSecret = !isFile && [url, finalUrl].some(isCapabilityUrl);
    if (isSecret && shared !== 'all') return { outcome: 'refused', reason: SECRET, found };
    const titled = isFile && !page.title ? { ...page, title: path.basename(fileURLToPath(url)) } : page;
    const indexable = toIndexablePage(titled, isFile ? shown : page.url);
    return { page: indexable && { ...indexable, owner: isSecret ? ONLY_ALL : OPERATOR }, found };
  } catch (error) {
    signal.throwIfAborted();
    const refused = error instanceof Problem && error.name === 'ResourcePolicyDenyError';
    return { outcome: refused ? 'refused' : 'failed', reason: (error as Error).message, found: [] };
  }
}

const SECRET = 'its URL is secret (a capability URL); set LECTERN_INDEX_SHARED=all to index it';

async function fileTarget(url: string) {
  const file = fileURLToPath(url);
  const { size } = statSync(file);
  if (size > MAX_FILE_BYTES) throw new Error(`the file is larger than ${MAX_FILE_BYTES} bytes`);
  const bytes = size <= SMALL_FILE_BYTES ? readFileSync(file) : await readFile(file);
  return { url: blobUrl(bytes), ...(await readUpload({ bytes, name: path.basename(file), option: 'file' })) };
}

/** Links to other pages of the same host, without duplicates. */
function linksOf({ links = {} }: Page, url: string): string[] {
  const { host } = new URL(url);
  const all = Array.isArray(links) ? links.map(([, link]) => link) : Object.values(links);
  const found = new Set<string>();
  for (const link of all) {
    const target = indexUrl(link);
    if (target?.host === host && target.protocol.startsWith('http')) found.add(target.href);
  }
  return [...found];
}
