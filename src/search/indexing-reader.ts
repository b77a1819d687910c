/**
 * A reader that adds the pages it reads to the local index. Only public pages are added: never content sent with a
 * request, anything read with a caller's credentials, or anything that the site or the caller forbids storing. The URLs
 * of a page determine who can find it.
 */
import { createHash } from 'node:crypto';
import { mayCache, type Reader, type ReadRequest, type Rendition } from '#reader/index.ts';
import type { Log } from '#telemetry/log.ts';
import { exclusionOf, toIndexablePage } from './index/fill/indexable.ts';
import type { LocalIndex } from './index/local-index.ts';
import { type IndexShared, ownerOf } from './index/owners.ts';

export interface IndexingReaderOptions {
  readonly index: Pick<LocalIndex, 'add' | 'remove'>;
  /** Whether to index pages that forbid storing copies (`no-store`). */
  readonly keepsNoStore: boolean;
  /** Which pages read by other accounts an account can find. */
  readonly shared: IndexShared;
  readonly log: Pick<Log, 'warn'>;
  readonly now?: () => number;
}

/** Maximum number of pages waiting to be indexed. Further pages are skipped and can be added at their next read. */
const MAX_WAITING = 200;
/** Maximum size of the cache of pages whose current version is known to be in the index. */
const MAX_KNOWN = 2_000;
/** How long a page stays in that cache. After that, adding it again marks it in the index as recently read. */
const KNOWN_FOR_MS = 600_000;
/** Minimum time between two warnings about the same failure, in milliseconds. */
const WARNING_INTERVAL_MS = 600_000;

export function createIndexingReader(reader: Reader, options: IndexingReaderOptions): Reader {
  const addToIndex = createIndexer(options);
  return {
    async *each(request) {
      let last: Rendition | undefined;
      for await (const rendition of reader.each(request)) {
        last = rendition;
        yield rendition;
      }
      if (last) addToIndex(request, last);
    },
    async last(request) {
      const rendition = await reader.last(request);
      addToIndex(request, rendition);
      return rendition;
    },
  };
}

interface Known {
  readonly version: string;
  readonly until: number;
}

function createIndexer({ index, keepsNoStore, shared, log, now = Date.now }: IndexingReaderOptions) {
  const known = new Map<string, Known>();
  let waiting = 0;
  let warned = { message: '', at: 0 };

  /** All pages fail alike while the database is away or full, so the log says it once. */
  function warn(error: unknown): void {
    const message = String(error);
    if (message === warned.message && now() - warned.at < WARNING_INTERVAL_MS) return;
    warned = { message, at: now() };
    log.warn({ err: error }, 'a page could not be indexed');
  }

  function track(url: string, work: Promise<unknown>): void {
    waiting++;
    work
      .catch((error: unknown) => {
        known.delete(url);
        warn(error);
      })
      .finally(() => waiting--);
  }

  return (request: ReadRequest, rendition: Rendition): void => {
    if (!isPublicRead(request) || rendition.staleAt !== undefined || waiting >= MAX_WAITING) return;
    const { url } = rendition.page;
    const exclusion = exclusionOf(rendition, keepsNoStore);
    if (exclusion) {
      // An earlier copy must be removed if the page no longer exists or its site no longer permits indexing.
      if (exclusion.isPermanent) {
        known.delete(url);
        track(url, index.remove(url));
      }
      return;
    }
    const page = toIndexablePage(
      request.options.formats.has('frontmatter') ? withoutFrontMatter(rendition) : rendition.page,
    );
    const urls = [request.target.url, rendition.finalUrl ?? url];
    const owner = ownerOf(shared, { account: request.account, urls });
    if (!page || owner === undefined) return;
    const version = createHash('sha256').update(`${owner}\n${page.title}\n${page.content}`).digest('base64');
    const before = known.get(url);
    if (before?.version === version && before.until > now()) return;
    // Reinserted as the newest entry, so that the oldest one is evicted first.
    known.delete(url);
    if (known.size >= MAX_KNOWN) known.delete(known.keys().next().value!);
    known.set(url, { version, until: now() + KNOWN_FOR_MS });
    track(url, index.add({ ...page, owner }));
  };
}

/** Whether the request reads a whole public page as Markdown. */
function isPublicRead({ target, options }: ReadRequest): boolean {
  if (target.given || target.upload || !mayCache(options)) return false;
  const { formats, modelFormat, maxTokens, targetSelector, removeSelector, retainLinks } = options;
  const isWhole = maxTokens === undefined && targetSelector.length === 0 && removeSelector.length === 0;
  const isPlain = retainLinks !== 'none' && retainLinks !== 'gpt-oss' && options.proxy === 'none';
  const isMarkdown = formats.has('content') || formats.has('markdown') || formats.has('frontmatter');
  return isMarkdown && !modelFormat && isWhole && isPlain;
}

/** Returns the page without the front matter at the start of its content. */
function withoutFrontMatter({ page }: Rendition): Rendition['page'] {
  const end = page.content?.startsWith('---\n') ? page.content.indexOf('\n---\n', 3) : -1;
  return end < 0 ? page : { ...page, content: page.content!.slice(end + 5).trimStart() };
}
