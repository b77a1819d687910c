/** Writes pages in batches, so that there is only one disk write to wait for per batch. */
import type { IndexStore } from '../store/index-store.ts';
import type { PreparedPage } from './prepare-page.ts';

export interface BatchWriter {
  /** Resolves to true if the page was new, otherwise to false. Rejects if it could not be written. */
  write(page: PreparedPage): Promise<boolean>;
  /** Resolves once every pending page has been written or rejected. */
  flush(): Promise<void>;
}

export interface BatchWriterOptions {
  readonly store: IndexStore;
  readonly maxBytes: number;
  readonly onWritten: () => unknown;
}

const BATCH_PAGES = 256;
const BATCH_BYTES = 4_000_000;
/**
 * A batch is written when no page was added for this time, or when its first page has waited for the longer time, in
 * milliseconds. SQLite merges the words of each transaction into its index, so that large batches take much less time.
 */
const BATCH_DELAY_MS = 20;
const MAX_BATCH_DELAY_MS = 500;
/** Pruning reduces the size to this share of the maximum, so that the next batches do not need to prune again. */
const PRUNE_TO_SHARE = 0.95;
/** The size is checked again after this share of the maximum has been written. */
const CHECK_SHARE = 0.01;

interface Waiting {
  readonly page: PreparedPage;
  resolve(added: boolean): void;
  reject(reason: unknown): void;
}

export function createBatchWriter({ store, maxBytes, onWritten }: BatchWriterOptions): BatchWriter {
  let waiting: Waiting[] = [];
  let waitingSince = 0;
  let timer: NodeJS.Timeout | undefined;
  let writing: Promise<void> = Promise.resolve();
  // The size is checked after the first batch, because the limit may be lower than at the last start.
  let uncheckedBytes = Number.POSITIVE_INFINITY;

  async function writeBatch(): Promise<void> {
    const batch = takeBatch();
    if (batch.length === 0) return;
    try {
      const added = await store.write(batch.map(({ page }) => page));
      for (const [at, { resolve, page }] of batch.entries()) {
        if (added[at]) uncheckedBytes += page.bytes;
        resolve(added[at]!);
      }
      onWritten();
    } catch (error) {
      for (const { reject } of batch) reject(error);
      return;
    }
    await pruneIfNeeded();
  }

  function takeBatch(): Waiting[] {
    let bytes = 0;
    const end = waiting.findIndex(({ page }, at) => {
      bytes += page.bytes;
      return at > 0 && (at >= BATCH_PAGES || bytes > BATCH_BYTES);
    });
    const batch = end < 0 ? waiting : waiting.slice(0, end);
    waiting = waiting.slice(batch.length);
    return batch;
  }

  async function pruneIfNeeded(): Promise<void> {
    if (uncheckedBytes < maxBytes * CHECK_SHARE) return;
    uncheckedBytes = 0;
    const bytes = await store.bytes();
    if (bytes > maxBytes) await store.prune(maxBytes * PRUNE_TO_SHARE);
  }

  function flush(): Promise<void> {
    clearTimeout(timer);
    timer = undefined;
    writing = writing.then(async () => {
      while (waiting.length > 0) await writeBatch();
    });
    // If pruning failed, it is repeated after the next batch.
    writing = writing.catch(() => {});
    return writing;
  }

  return {
    write(page) {
      return new Promise((resolve, reject) => {
        waiting.push({ page, resolve, reject });
        if (!timer) {
          waitingSince = performance.now();
          timer = setTimeout(flush, BATCH_DELAY_MS);
        } else if (waiting.length >= BATCH_PAGES || performance.now() - waitingSince >= MAX_BATCH_DELAY_MS)
          void flush();
        else timer.refresh();
      });
    },
    flush,
  };
}
