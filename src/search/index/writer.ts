/** Pages that come one after the other, written together: a group waits once for the disk. */
import type { IndexStore } from './index-store.ts';
import type { PreparedPage } from './prepare.ts';

export interface Writer {
  /** Whether it was new. Rejects when it could not be written. */
  write(page: PreparedPage): Promise<boolean>;
  /** Resolves when all that was given is written, or could not be. */
  flush(): Promise<void>;
}

export interface WriterOptions {
  readonly store: IndexStore;
  readonly maxBytes: number;
  readonly onWritten: () => unknown;
}

const GROUP_PAGES = 64;
const GROUP_BYTES = 4_000_000;
/** A page waits so long for others to come. */
const GATHER_MS = 20;
/** When there is too much, so much more is removed that the next pages need not remove again. */
const ROOM = 0.95;
/** The size is looked at each time that so much was written. */
const LOOK_SHARE = 0.01;

interface Waiting {
  readonly page: PreparedPage;
  resolve(added: boolean): void;
  reject(reason: unknown): void;
}

export function createWriter({ store, maxBytes, onWritten }: WriterOptions): Writer {
  let waiting: Waiting[] = [];
  let timer: NodeJS.Timeout | undefined;
  let turn: Promise<void> = Promise.resolve();
  // Looked at with the first group: the bound may be lower than at the last start.
  let unlooked = Number.POSITIVE_INFINITY;

  async function writeGroup(): Promise<void> {
    const group = takeGroup();
    if (group.length === 0) return;
    try {
      const added = await store.write(group.map(({ page }) => page));
      for (const [at, { resolve, page }] of group.entries()) {
        if (added[at]) unlooked += page.bytes;
        resolve(added[at]!);
      }
      onWritten();
    } catch (error) {
      for (const { reject } of group) reject(error);
      return;
    }
    await makeRoom();
  }

  function takeGroup(): Waiting[] {
    let bytes = 0;
    const end = waiting.findIndex(({ page }, at) => {
      bytes += page.bytes;
      return at > 0 && (at >= GROUP_PAGES || bytes > GROUP_BYTES);
    });
    const group = end < 0 ? waiting : waiting.slice(0, end);
    waiting = waiting.slice(group.length);
    return group;
  }

  async function makeRoom(): Promise<void> {
    if (unlooked < maxBytes * LOOK_SHARE) return;
    unlooked = 0;
    const { bytes } = await store.stats(undefined);
    if (bytes > maxBytes) await store.prune(maxBytes * ROOM);
  }

  function flush(): Promise<void> {
    clearTimeout(timer);
    timer = undefined;
    turn = turn.then(async () => {
      while (waiting.length > 0) await writeGroup();
    });
    // Room that could not be made is made the next time.
    turn = turn.catch(() => {});
    return turn;
  }

  return {
    write(page) {
      return new Promise((resolve, reject) => {
        waiting.push({ page, resolve, reject });
        if (waiting.length >= GROUP_PAGES) void flush();
        else timer ??= setTimeout(flush, GATHER_MS);
      });
    },
    flush,
  };
}
