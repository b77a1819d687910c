/** Fills the index in bulk: from a page and what it links to, from a sitemap, from a folder of files. */
import { readdir, readFile, stat } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { Problem } from '#errors.ts';
import { isCapabilityUrl } from '#net/capability-url.ts';
import type { GuardedFetch } from '#net/fetch/fetch.ts';
import type { Robots } from '#net/robots/robots.ts';
import { fetchSitemap } from '#net/robots/sitemap.ts';
import { blobUrl, type Options, type Page, type Reader, readUpload, resolve } from '#reader/index.ts';
import type { LocalIndex } from '../local-index.ts';
import { type IndexShared, ONLY_ALL, OPERATOR } from '../owners.ts';
import { indexUrl } from '../write/prepare-page.ts';
import { exclusionOf, toIndexablePage } from './indexable.ts';
import type { Journal } from './journal.ts';

export interface FillTools {
  readonly index: Pick<LocalIndex, 'add' | 'remove'>;
  readonly reader: Reader;
  /** Whether pages that forbid copies are indexed too. */
  readonly keepsNoStore: boolean;
  /** With `all` pages at capability URLs are indexed too. */
  readonly shared: IndexShared;
  readonly fetch: GuardedFetch;
  readonly robots: Robots;
  readonly journal: Journal;
}

export interface FillOptions {
  /** How many links away from the first page pages of its host are read; 0 for that page alone. */
  readonly depth: number;
  readonly maxPages: number;
  /** Between the end of a read of a host and the beginning of the next. */
  readonly delayMs: number;
  /** The product token that robots.txt files are asked about. */
  readonly agent: string;
  readonly signal: AbortSignal;
  readonly onProgress: (progress: FillProgress) => void;
}

export interface FillProgress {
  readonly url: string;
  readonly outcome: 'added' | 'unchanged' | 'refused' | 'failed';
  /** Why it was refused or failed. */
  readonly reason?: string | undefined;
  readonly done: number;
  /** What is known to be read, done and not. */
  readonly known: number;
}

export interface FillSummary {
  added: number;
  unchanged: number;
  /** By robots.txt. */
  refused: number;
  failed: number;
  /** Done by an earlier run that was ended. */
  before: number;
}

/** Hosts that are read at the same time; each by one read at a time. */
const HOSTS_AT_ONCE = 4;
const FILES_AT_ONCE = 2;
const IDLE_MS = 20;
const MAX_SITEMAPS = 500;
const MAX_FILE_BYTES = 200_000_000;

interface Task {
  readonly url: string;
  readonly depth: number;
  /** Under which a file is found: without the folders above the one that was named, which are nobody's business. */
  readonly shown?: string;
}

/** Throws when the source cannot be read at all; single pages that cannot be read are told and passed over. */
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

  const perform = async (task: Task): Promise<void> => {
    const outcome = await readAndIndex(task, tools, options);
    signal.throwIfAborted();
    const { found, ...told } = outcome;
    summary[told.outcome] += 1;
    for (const url of found) enqueue({ url, depth: task.depth - 1 });
    await journal.note({ url: task.url, ...(found.length > 0 && { found }) });
    const { before, ...counts } = summary;
    const count = Object.values(counts).reduce((sum, value) => sum + value, before);
    options.onProgress({ url: task.url, ...told, done: count, known });
  };

  const { tasks, atOnce } = await listTasks(source, tools, options);
  for (const task of tasks) enqueue(task);
  await runByHost(queues, { atOnce, delayMs: atOnce === FILES_AT_ONCE ? 0 : options.delayMs, signal, perform });
  await journal.remove();
  return summary;
}

interface HostRules {
  readonly atOnce: number;
  readonly delayMs: number;
  readonly signal: AbortSignal;
  perform(task: Task): Promise<void>;
}

/** Several hosts at a time, each one's pages one after the other. Files are all of one host, and of no server. */
async function runByHost(queues: Map<string, Task[]>, { atOnce, delayMs, signal, perform }: HostRules): Promise<void> {
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
        if (queue.length > 0) await pause(delayMs, signal);
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
    if (!info) throw new Error(`${source} is neither an address nor a file or folder`);
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
  if (!url) throw new Error(`${source} is no address`);
  const pages = /\.(?:xml|txt)(?:\.gz)?$|sitemap/i.test(url.pathname)
    ? await listSitemapUrls(url.href, tools, options)
    : undefined;
  const tasks = pages?.map((page) => ({ url: page, depth: 0 })) ?? [{ url: url.href, depth: options.depth }];
  return { tasks, atOnce: HOSTS_AT_ONCE };
}

/** In the order of their names; what begins with a dot is left out, and links are not followed. */
async function listFiles(root: string, most: number): Promise<string[]> {
  const files: string[] = [];
  const folders = [root];
  for (let folder = folders.pop(); folder !== undefined && files.length < most; folder = folders.pop()) {
    const entries = (await readdir(folder, { withFileTypes: true })).sort((a, b) => (a.name < b.name ? -1 : 1));
    for (const entry of entries) {
      if (entry.name.startsWith('.') || entry.name === 'node_modules') continue;
      const place = path.join(folder, entry.name);
      if (entry.isDirectory()) folders.push(place);
      else if (entry.isFile() && files.length < most) files.push(place);
    }
  }
  return files;
}

/** Undefined when there is no sitemap at that address but a page. */
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
      const address = indexUrl(found)?.href;
      if (address === undefined) continue;
      if (!sitemap.isIndex) pages.add(address);
      else if (seen.size < MAX_SITEMAPS) seen.add(address);
    }
  }
  return [...pages].slice(0, maxPages);
}

type Outcome = Pick<FillProgress, 'outcome' | 'reason'> & { readonly found: readonly string[] };

async function readAndIndex(
  { url, depth, shown = url }: Task,
  tools: FillTools,
  options: FillOptions,
): Promise<Outcome> {
  const { index, reader, robots, keepsNoStore, shared } = tools;
  const { signal, agent } = options;
  try {
    const isFile = url.startsWith('file:');
    if (!isFile) await robots.check(url, agent, { signal });
    const read: Options = resolve({ withLinksSummary: depth > 0 ? 'all' : false, retainImages: 'alt' });
    const target = isFile ? await fileTarget(url) : { url };
    const rendition = await reader.last({ target, options: read, signal, keyed: true });
    const { page, finalUrl = page.url } = rendition;
    const hindrance = isFile ? undefined : exclusionOf(rendition, keepsNoStore);
    if (hindrance) {
      if (hindrance.isPermanent) await index.remove(page.url);
      return { outcome: 'refused', reason: hindrance.reason, found: depth > 0 ? linksOf(page, url) : [] };
    }
    const isSecret = !isFile && [url, finalUrl].some(isCapabilityUrl);
    if (isSecret && shared !== 'all') {
      return { outcome: 'refused', reason: SECRET, found: depth > 0 ? linksOf(page, url) : [] };
    }
    const titled = isFile && !page.title ? { ...page, title: path.basename(fileURLToPath(url)) } : page;
    const indexable = toIndexablePage(titled, isFile ? shown : page.url);
    const added = indexable !== undefined && (await index.add({ ...indexable, owner: isSecret ? ONLY_ALL : OPERATOR }));
    return { outcome: added ? 'added' : 'unchanged', found: depth > 0 ? linksOf(page, url) : [] };
  } catch (error) {
    signal.throwIfAborted();
    const refused = error instanceof Problem && error.name === 'ResourcePolicyDenyError';
    return { outcome: refused ? 'refused' : 'failed', reason: (error as Error).message, found: [] };
  }
}

const SECRET = 'its URL is a secret, which only LECTERN_INDEX_SHARED=all shares';

async function fileTarget(url: string) {
  const file = fileURLToPath(url);
  const { size } = await stat(file);
  if (size > MAX_FILE_BYTES) throw new Error(`larger than ${MAX_FILE_BYTES} bytes`);
  const bytes = await readFile(file);
  return { url: blobUrl(bytes), ...readUpload({ bytes, name: path.basename(file), option: 'file' }) };
}

/** Addresses of the same host, none twice. */
function linksOf({ links = {} }: Page, url: string): string[] {
  const { host } = new URL(url);
  const all = Array.isArray(links) ? links.map(([, address]) => address) : Object.values(links);
  const found = new Set<string>();
  for (const link of all) {
    const address = indexUrl(link);
    if (address?.host === host && address.protocol.startsWith('http')) found.add(address.href);
  }
  return [...found];
}
