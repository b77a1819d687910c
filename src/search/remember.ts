/**
 * A reader whose pages can be searched afterwards. Only what anybody could have read is remembered: nothing that came with a
 * request or because of what a caller brought along, nothing that its site or the caller wants forgotten. Who finds a page
 * is decided by the URLs that it was read by.
 */
import { createHash } from 'node:crypto';
import { mayCache, type Reader, type ReadRequest, type Rendition } from '#reader/index.ts';
import type { Log } from '#telemetry/log.ts';
import { hindranceOf, indexableOf } from './index/from-reader.ts';
import type { LocalIndex } from './index/local-index.ts';
import { type IndexShared, ownerOf } from './index/owners.ts';

export interface RememberOptions {
  readonly index: Pick<LocalIndex, 'add' | 'remove'>;
  /** Whether pages that forbid copies are remembered too. */
  readonly keepsNoStore: boolean;
  /** What accounts find of each other's reads. */
  readonly shared: IndexShared;
  readonly log: Pick<Log, 'warn'>;
  readonly now?: () => number;
}

/** So many pages may wait for the index; further ones are found when they are read again. */
const MAX_WAITING = 200;
/** Of so many pages it is known that they are in the index as they were read. */
const MAX_KNOWN = 2_000;
/** A page that is read again and again is told to the index so often, which keeps longest what was read last. */
const KNOWN_FOR_MS = 600_000;

export function rememberingReader(reader: Reader, options: RememberOptions): Reader {
  const remember = createMemory(options);
  return {
    async *each(request) {
      let last: Rendition | undefined;
      for await (const rendition of reader.each(request)) {
        last = rendition;
        yield rendition;
      }
      if (last) remember(request, last);
    },
    async last(request) {
      const rendition = await reader.last(request);
      remember(request, rendition);
      return rendition;
    },
  };
}

interface Known {
  readonly version: string;
  readonly until: number;
}

function createMemory({ index, keepsNoStore, shared, log, now = Date.now }: RememberOptions) {
  const known = new Map<string, Known>();
  let waiting = 0;

  function tell(url: string, work: Promise<unknown>): void {
    waiting++;
    work
      .catch((error: unknown) => {
        known.delete(url);
        log.warn({ err: error }, 'a page could not be indexed');
      })
      .finally(() => waiting--);
  }

  return (request: ReadRequest, rendition: Rendition): void => {
    if (!isForAll(request) || rendition.staleAt !== undefined || waiting >= MAX_WAITING) return;
    const { url } = rendition.page;
    const hindrance = hindranceOf(rendition, keepsNoStore);
    if (hindrance) {
      // What was read before must not outlive the page, nor its site's consent.
      if (hindrance.isForGood) {
        known.delete(url);
        tell(url, index.remove(url));
      }
      return;
    }
    const page = indexableOf(request.options.formats.has('frontmatter') ? withoutHead(rendition) : rendition.page);
    const urls = [request.target.url, rendition.finalUrl ?? url];
    const owner = ownerOf(shared, { account: request.account, urls });
    if (!page || owner === undefined) return;
    const version = createHash('sha256').update(`${owner}\n${page.title}\n${page.content}`).digest('base64');
    const before = known.get(url);
    if (before?.version === version && before.until > now()) return;
    // The oldest goes, and what is told again is young again.
    known.delete(url);
    if (known.size >= MAX_KNOWN) known.delete(known.keys().next().value!);
    known.set(url, { version, until: now() + KNOWN_FOR_MS });
    tell(url, index.add({ ...page, owner }));
  };
}

/** Whether the read was of a page as everybody gets it, and all of it. */
function isForAll({ target, options }: ReadRequest): boolean {
  if (target.given || target.upload || !mayCache(options)) return false;
  const { formats, modelFormat, maxTokens, targetSelector, removeSelector, retainLinks } = options;
  const isWhole = maxTokens === undefined && targetSelector.length === 0 && removeSelector.length === 0;
  const isPlain = retainLinks !== 'none' && retainLinks !== 'gpt-oss' && options.proxy === 'none';
  const isMarkdown = formats.has('content') || formats.has('markdown') || formats.has('frontmatter');
  return isMarkdown && !modelFormat && isWhole && isPlain;
}

/** The page without the front matter that was put before its content. */
function withoutHead({ page }: Rendition): Rendition['page'] {
  const end = page.content?.startsWith('---\n') ? page.content.indexOf('\n---\n', 3) : -1;
  return end < 0 ? page : { ...page, content: page.content!.slice(end + 5).trimStart() };
}
