/** Document collections of flows. Each consists of a local index and a table of document ids. */
import { createHash } from 'node:crypto';
import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import type { Config } from '#config.ts';
import type { Collection, Entry, FoundPassage } from '#flow/index.ts';
import { isCapabilityUrl } from '#net/capability-url.ts';
import { type IndexEmbedder, indexUrl, type LocalIndex, openLocalIndex, parseQuery } from '#search/index.ts';
import { type Database, openDatabase } from '#storage/database/sqlite.ts';
import type { Log } from '#telemetry/log.ts';

export interface CollectionsOptions {
  /** Each collection has a subfolder with its name in this folder. */
  readonly dir: string;
  /** Approximate maximum size of one collection. */
  readonly maxBytes: number;
  /** `all` also stores and shows capability URLs (URLs that grant access to whoever has them). */
  readonly shared: Config['indexShared'];
  readonly embedder: IndexEmbedder | undefined;
  readonly log: Log;
}

export interface Collections {
  /** The files are opened on first use. */
  open(name: string): Collection;
  close(): Promise<void>;
}

const MIGRATIONS = ['CREATE TABLE documents (address TEXT PRIMARY KEY, id TEXT NOT NULL UNIQUE)'];

/** Users of the same collection share one instance, which is closed when the last of them closes it. */
export function createCollections(options: CollectionsOptions): Collections {
  const opened = new Map<string, { readonly collection: Collection; users: number }>();
  return {
    open(name) {
      const shared = opened.get(name) ?? { collection: lazily(() => openCollection(name, options)), users: 0 };
      opened.set(name, shared);
      shared.users += 1;
      let closed = false;
      return {
        ...shared.collection,
        async close() {
          if (closed) return;
          closed = true;
          shared.users -= 1;
          if (shared.users > 0) return;
          opened.delete(name);
          await shared.collection.close();
        },
      };
    },
    async close() {
      const all = [...opened.values()];
      opened.clear();
      await Promise.all(all.map(({ collection }) => collection.close()));
    },
  };
}

/** A collection that is opened on first use. If opening fails, the next call tries again. */
function lazily(open: () => Promise<Collection>): Collection {
  let opening: Promise<Collection> | undefined;
  let closed = false;
  const get = (): Promise<Collection> => {
    if (closed) throw new Error('the collection is closed');
    opening ??= open().catch((error: unknown) => {
      opening = undefined;
      throw error;
    });
    return opening;
  };
  return {
    add: async (entries) => (await get()).add(entries),
    remove: async (entry) => (await get()).remove(entry),
    search: async (question, ask) => (await get()).search(question, ask),
    async close() {
      closed = true;
      await (await opening?.catch(() => undefined))?.close();
    },
  };
}

async function openCollection(name: string, options: CollectionsOptions): Promise<Collection> {
  const { dir, maxBytes, shared, embedder, log } = options;
  const folder = path.join(dir, name);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const ids = await openDatabase(path.join(folder, 'ids.db'), MIGRATIONS);
  try {
    const index = await openLocalIndex({ file: path.join(folder, 'index.db'), maxBytes, embedder, log });
    return collectionOver(index, ids, (url) => shared === 'all' || !isCapabilityUrl(url));
  } catch (error) {
    ids.close();
    throw error;
  }
}

const ID_URL_PREFIX = 'file:///';

/** Callers of flows share all collections, so a URL is stored and returned only if `isShown` returns true for it. */
function collectionOver(index: LocalIndex, ids: Database, isShown: (url: string) => boolean): Collection {
  /** The index key of a document: its URL if that may be shown, else a URL derived from its id. */
  const addressFor = ({ id, url }: Pick<Entry, 'id' | 'url'>): string =>
    (url !== undefined && isShown(url) && indexUrl(url)?.href) ||
    `${ID_URL_PREFIX}${createHash('sha256').update(id).digest('hex')}`;
  const addressOfId = (id: string) =>
    ids.get<{ address: string }>('SELECT address FROM documents WHERE id = ?', id)?.address;
  const idOf = (address: string) => ids.get<{ id: string }>('SELECT id FROM documents WHERE address = ?', address)?.id;

  async function add(entry: Entry): Promise<boolean> {
    const { id, title, description, content, language } = entry;
    const address = addressFor(entry);
    const before = addressOfId(id);
    // The document was added earlier under another URL, so it is replaced.
    if (before !== undefined && before !== address) await index.remove(before);
    ids.run('INSERT OR REPLACE INTO documents (address, id) VALUES (?, ?)', address, id);
    return index.add({ url: address, title, description, content, language });
  }

  return {
    // The entries are added concurrently, so that the index writes them in one transaction.
    add: (entries) => Promise.all(entries.map(add)),
    async remove({ id, url }) {
      const address = addressOfId(id) ?? addressFor({ id, url });
      const removed = await index.remove(address);
      ids.run('DELETE FROM documents WHERE address = ?', address);
      return removed;
    },
    async search(question, { limit, signal }) {
      const hits = await index.search(parseQuery(question, { count: limit }), { signal });
      const passages = hits.flatMap(({ url, title, passages = [] }) =>
        passages.map((passage): FoundPassage => {
          const isHidden = url.startsWith(ID_URL_PREFIX) || !isShown(url);
          const { heading, text, start, end, score } = passage;
          const shown = isHidden ? { title: title === url ? '' : title } : { url, title };
          return { id: idOf(url) ?? '', ...shown, heading, text, start, end, score };
        }),
      );
      return passages.sort((a, b) => b.score - a.score).slice(0, limit);
    },
    async close() {
      await index.close();
      ids.close();
    },
  };
}
