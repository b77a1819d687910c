/** Document collections of flows. Each consists of a local index and a table of document ids. */
import { createHash } from 'node:crypto';
import { NEVER_ABORTED } from '#concurrency/never-aborted.ts';
import { createSlots } from '#concurrency/slots.ts';
import type { Config } from '#config.ts';
import type { Collection, Entry, FoundPassage } from '#flow/index.ts';
import { isCapabilityUrl } from '#net/capability-url.ts';
import { type IndexEmbedder, indexUrl, type LocalIndex, openLocalIndex, parseQuery } from '#search/index.ts';
import type { Log } from '#telemetry/log.ts';
import { type DocumentIds, openDocumentIds } from './document-ids.ts';
import { type CollectionsPlace, hasFiles, indexPlace, placeOf } from './place.ts';

export interface CollectionsOptions extends CollectionsPlace {
  /** Approximate maximum size of one collection. */
  readonly maxBytes: number;
  /** `all` also stores and shows capability URLs (URLs that grant access to whoever has them). */
  readonly shared: Config['indexShared'];
  readonly embedder: IndexEmbedder | undefined;
  /** Number of added documents after which the ids of removed ones are looked for. */
  readonly sweepAfter?: number;
  readonly log: Log;
}

export interface Collections {
  /** Its files or tables are opened on first use. */
  open(name: string): Collection;
  close(): Promise<void>;
}

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
  const { maxBytes, shared, embedder, log } = options;
  const place = placeOf(options, name);
  const ids = await openDocumentIds(place, log);
  let index: LocalIndex | undefined;
  try {
    index = await openLocalIndex({ ...indexPlace(place), maxBytes, embedder, log });
    if (place.url !== undefined && hasFiles(place) && (await ids.after('', 1)).length === 0) {
      log.warn({ collection: name, folder: place.folder }, LEFT_BEHIND);
    }
    return collectionOver(index, ids, { ...options, isShown: (url) => shared === 'all' || !isCapabilityUrl(url) });
  } catch (error) {
    await index?.close();
    await ids.close();
    throw error;
  }
}

const LEFT_BEHIND =
  'this collection is empty in PostgreSQL, but the data folder has documents of it, which are not used: ' +
  '`lectern migrate --to` moves them into a new database; otherwise index them again';

const ID_URL_PREFIX = 'file:///';
/** Number of documents that are written at once. */
const AT_ONCE = 500;

const SWEEP_AFTER = 10_000;

interface CollectionRules extends Pick<CollectionsOptions, 'sweepAfter' | 'log'> {
  isShown(url: string): boolean;
}

/** Callers of flows share all collections, so a URL is stored and returned only if `isShown` returns true for it. */
function collectionOver(
  index: LocalIndex,
  ids: DocumentIds,
  { isShown, sweepAfter = SWEEP_AFTER, log }: CollectionRules,
): Collection {
  /** The index key of a document: its URL if that may be shown, else a URL derived from its id. */
  const addressFor = ({ id, url }: Pick<Entry, 'id' | 'url'>): string =>
    (url !== undefined && isShown(url) && indexUrl(url)?.href) ||
    `${ID_URL_PREFIX}${createHash('sha256').update(id).digest('hex')}`;

  async function addRound(entries: ReadonlyMap<string, Entry>): Promise<boolean[]> {
    const documents = [...entries].map(([address, { id }]) => ({ address, id }));
    const wanted = new Map(documents.map(({ address, id }) => [id, address]));
    const before = await ids.addressesOf(documents.map(({ id }) => id));
    // Documents that were added earlier under another URL are replaced.
    for (const { address, id } of before) if (wanted.get(id) !== address) await index.remove(address);
    await ids.put(documents);
    // They are added concurrently, so that the index writes them in one transaction.
    return Promise.all(
      [...entries].map(([address, { title, description, content, language }]) =>
        index.add({ url: address, title, description, content, language }),
      ),
    );
  }

  const writers = createSlots(1);
  /** Two writers that give a document different addresses at the same time would leave both in the index. */
  async function exclusively<T>(work: () => Promise<T>): Promise<T> {
    const release = await writers.take(NEVER_ABORTED);
    try {
      return await ids.exclusively(work);
    } finally {
      release();
    }
  }

  let dueIn = sweepAfter;
  let sweeping: Promise<void> | undefined;
  let isClosing = false;

  function sweepIfDue(added: number): void {
    dueIn -= added;
    if (dueIn > 0 || sweeping) return;
    sweeping = sweep()
      .catch((error: unknown) => log.warn({ err: error }, 'the ids of removed documents could not be removed'))
      .finally(() => {
        sweeping = undefined;
      });
  }

  /** The index removes its oldest documents when it is full, and leaves their ids, which would add up. */
  async function sweep(): Promise<void> {
    let seen = 0;
    for (let after = ''; !isClosing; ) {
      const documents = await ids.after(after, AT_ONCE);
      if (documents.length === 0) break;
      const addresses = documents.map(({ address }) => address);
      after = addresses.at(-1)!;
      seen += addresses.length;
      const missing = await missingOf(addresses);
      // While others write, an id may be stored before its document.
      if (missing.length > 0) await exclusively(async () => ids.remove(await missingOf(missing)));
    }
    // Large collections are looked through less often.
    dueIn = Math.max(sweepAfter, seen / 2);
  }

  async function missingOf(addresses: readonly string[]): Promise<string[]> {
    const there = new Set(await index.urlsAmong(addresses));
    return addresses.filter((address) => !there.has(address));
  }

  return {
    async add(entries) {
      const added: boolean[] = [];
      for (const round of roundsOf(entries, addressFor)) added.push(...(await exclusively(() => addRound(round))));
      sweepIfDue(entries.length);
      return added;
    },
    remove: ({ id, url }) =>
      exclusively(async () => {
        const known = (await ids.addressesOf([id])).map(({ address }) => address);
        const addresses = known.length > 0 ? known : [addressFor({ id, url })];
        const removed = await Promise.all(addresses.map((address) => index.remove(address)));
        await ids.remove(addresses);
        return removed.includes(true);
      }),
    async search(question, { limit, signal }) {
      const hits = await index.search(parseQuery(question, { count: limit }), { signal });
      const known = await ids.idsOf(hits.map(({ url }) => url));
      const passages = hits.flatMap(({ url, title, passages = [] }) =>
        passages.map((passage): FoundPassage => {
          const isHidden = url.startsWith(ID_URL_PREFIX) || !isShown(url);
          const { heading, text, start, end, score } = passage;
          const shown = isHidden ? { title: title === url ? '' : title } : { url, title };
          return { id: known.get(url) ?? '', ...shown, heading, text, start, end, score };
        }),
      );
      return passages.sort((a, b) => b.score - a.score).slice(0, limit);
    },
    async close() {
      isClosing = true;
      await sweeping;
      await index.close();
      await ids.close();
    },
  };
}

/** Rounds of entries by address, in each of which no address and no id occurs twice. */
function* roundsOf(
  entries: readonly Entry[],
  addressFor: (entry: Entry) => string,
): Generator<ReadonlyMap<string, Entry>> {
  let round = new Map<string, Entry>();
  let seen = new Set<string>();
  for (const entry of entries) {
    const address = addressFor(entry);
    if (round.size === AT_ONCE || round.has(address) || seen.has(entry.id)) {
      yield round;
      round = new Map();
      seen = new Set();
    }
    round.set(address, entry);
    seen.add(entry.id);
  }
  if (round.size > 0) yield round;
}
