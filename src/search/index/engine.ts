/**
 * The index engine, which works with any store. It prepares pages, writes them in batches, embeds them, and finds
 * pages. It runs in its own thread.
 */
import type { SearchQuery } from '../query.ts';
import type { IndexablePage, IndexEmbedder, IndexStats } from './local-index.ts';
import { createPageFinder, type FindRequest, type FoundPages } from './query/find-pages.ts';
import type { IndexStore } from './store/index-store.ts';
import { createVectorSearch } from './vectors/vector-search.ts';
import { createBatchWriter } from './write/batch-writer.ts';
import { indexUrl, preparePage } from './write/prepare-page.ts';

export interface Engine {
  add(page: IndexablePage): Promise<boolean>;
  remove(url: string): Promise<boolean>;
  urlsAmong(urls: readonly string[]): Promise<string[]>;
  find(query: SearchQuery, request: FindRequest): Promise<FoundPages>;
  /** Resolves when all pages have been written and, as far as possible, embedded. */
  flush(): Promise<void>;
  stats(): Promise<IndexStats>;
  prune(maxBytes?: number): Promise<number>;
  clear(): Promise<void>;
  close(): Promise<void>;
}

export interface EngineOptions {
  readonly store: IndexStore;
  readonly embedder?: IndexEmbedder | undefined;
  /** Maximum total size of all pages, in bytes. The oldest pages are removed first. */
  readonly maxBytes: number;
  readonly clock?: () => number;
  /** Called with messages about long work. */
  readonly inform?: (message: string) => void;
}

/** Maximum time that a search waits for pages that are being written. */
const MAX_FLUSH_WAIT_MS = 500;

export function createEngine({ store, embedder, maxBytes, clock = Date.now, inform }: EngineOptions): Engine {
  const vectors = embedder && createVectorSearch(store, embedder, inform);
  const writer = createBatchWriter({ store, maxBytes, onWritten: () => vectors?.embedMissing() });
  const finder = createPageFinder({ store, vectors, modelWeight: embedder?.weight ?? 1, clock });
  let closing: Promise<void> | undefined;
  // Passages may have vectors of another model, or none because they were added without one or the last run ended early.
  vectors?.embedMissing().catch(() => {});

  return {
    async add(page) {
      const prepared = preparePage(page, clock(), vectors?.bytesPerVector ?? 0);
      return prepared ? writer.write(prepared) : false;
    },
    async remove(url) {
      const normalized = indexUrl(url);
      await writer.flush();
      return normalized ? store.remove(normalized.href) : false;
    },
    async urlsAmong(urls) {
      await writer.flush();
      return store.urlsAmong(urls);
    },
    async find(query, request) {
      await waitBriefly(writer.flush());
      return finder.find(query, request);
    },
    async flush() {
      await writer.flush();
      await vectors?.embedMissing();
    },
    async stats() {
      await writer.flush();
      return store.stats(embedder?.id);
    },
    async prune(bytes = maxBytes) {
      await writer.flush();
      return store.prune(bytes);
    },
    async clear() {
      await writer.flush();
      await vectors?.pause();
      await store.clear();
      vectors?.forget();
      finder.forget();
    },
    close() {
      closing ??= (async () => {
        await writer.flush();
        await vectors?.close();
        await store.close();
      })();
      return closing;
    },
  };
}

async function waitBriefly(work: Promise<unknown>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, MAX_FLUSH_WAIT_MS);
  });
  await Promise.race([work.catch(() => {}), timeout]);
  clearTimeout(timer);
}
