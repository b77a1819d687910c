/**
 * Recent pages that other servers of the installation see too. Each server has its own in memory; a page is also written
 * to a shared store, and loaded from it when a request may need pages that another server read.
 */
import { createHash } from 'node:crypto';
import type { SharedStore } from '#storage/shared/values.ts';
import { KEEP_MS, MAX_PAGES, type RecentPage, type RecentPageStore, type RecentPages } from './recent.ts';

export interface SharedRecentPages {
  of(holder: string): RecentPages;
  /** Loads the pages that the holder has read on other servers. Loads nothing while the store is away. */
  load(holder: string): Promise<void>;
}

/** Longer texts stay on the server that read them. */
const MAX_CHARACTERS = 200_000;
const MAX_VALUES = 2_000;

/** The names of a holder's pages, the latest last. */
type Listed = readonly string[];

export function createSharedRecentPages(store: SharedStore, local: RecentPageStore): SharedRecentPages {
  const pages = store.space({ name: 'agent pages', maxValues: MAX_VALUES });
  const listName = (holder: string) => `list ${hash(holder)}`;
  const pageName = (holder: string, reading: string) => `page ${hash(holder)} ${hash(reading)}`;

  async function write(holder: string, page: RecentPage): Promise<void> {
    const name = pageName(holder, page.reading);
    await pages.set(name, JSON.stringify(page), KEEP_MS);
    await pages.update(listName(holder), (value) => {
      const others = value === undefined ? [] : (JSON.parse(value) as Listed).filter((other) => other !== name);
      const listed: Listed = [...others, name].slice(-MAX_PAGES);
      return { value: JSON.stringify(listed), keepMs: KEEP_MS, result: undefined };
    });
  }

  async function read(holder: string): Promise<RecentPage[]> {
    const [list] = await pages.get([listName(holder)]);
    if (list === undefined) return [];
    const found = await pages.get(JSON.parse(list) as Listed);
    return found.flatMap((value) => (value === undefined ? [] : (JSON.parse(value) as RecentPage)));
  }

  return {
    of(holder) {
      const own = local.of(holder);
      return {
        ...own,
        put(page) {
          own.put(page);
          const stored = own.find(page.reading);
          // The other servers read a page again that could not be written.
          if (stored && stored.text.length <= MAX_CHARACTERS) write(holder, stored).catch(() => {});
        },
      };
    },
    async load(holder) {
      const own = local.of(holder);
      for (const page of await read(holder).catch(() => [])) if (!own.find(page.reading)) own.put(page);
    },
  };
}

/** Holders and readings may contain URLs and secrets. */
const hash = (text: string) => createHash('sha256').update(text).digest('base64url');
