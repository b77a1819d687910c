/**
 * The recently read pages of each caller. Clients can list them. Further parts of a long page come from the same text
 * and are not charged again. The number, size and age of pages are limited per caller and in total.
 */

export interface RecentPage {
  readonly url: string;
  /** Key of the read: the URL and the options that affect the text. */
  readonly reading: string;
  readonly text: string;
  readonly readAt: number;
}

export interface RecentPages {
  /** Without `readAt`, the page was read now. */
  put(page: Omit<RecentPage, 'readAt'> & Partial<Pick<RecentPage, 'readAt'>>): void;
  /** Returns the page of the same read, if still stored. */
  find(reading: string): RecentPage | undefined;
  /** Lists pages, latest first, each URL once. */
  list(): RecentPage[];
  /** Removes all pages. */
  clear(): void;
}

export interface RecentPageStore {
  /** Creates a list of recent pages that is not shared. */
  open(): RecentPages;
  /** Returns the list of recent pages of a named caller. Creates it if needed. */
  of(name: string): RecentPages;
}

export const MAX_PAGES = 30;
const MAX_CHARACTERS = 4_000_000;
/** Maximum number of characters stored for all callers. A character uses one or two bytes. */
const MAX_TOTAL_CHARACTERS = 50_000_000;
const MAX_NAMES = 1_000;
export const KEEP_MS = 15 * 60_000;

export function createRecentPageStore(now: () => number = Date.now): RecentPageStore {
  /** All pages in order of insertion, each with the map that contains it. */
  const owners = new Map<RecentPage, Map<string, RecentPage>>();
  let characters = 0;
  const named = new Map<string, RecentPages>();

  function drop(page: RecentPage): void {
    owners.get(page)?.delete(page.reading);
    owners.delete(page);
    characters -= page.text.length;
  }

  function evictExpired(): void {
    for (const page of owners.keys()) {
      if (characters <= MAX_TOTAL_CHARACTERS && now() - page.readAt <= KEEP_MS) return;
      drop(page);
    }
  }

  function open(): RecentPages {
    const pages = new Map<string, RecentPage>();
    const shorten = () => {
      let own = 0;
      for (const { text } of pages.values()) own += text.length;
      for (const page of pages.values()) {
        if (pages.size <= MAX_PAGES && own <= MAX_CHARACTERS) return;
        own -= page.text.length;
        drop(page);
      }
    };
    return {
      put(page) {
        const known = pages.get(page.reading);
        if (known) drop(known);
        const stored = { readAt: now(), ...page };
        pages.set(stored.reading, stored);
        owners.set(stored, pages);
        characters += stored.text.length;
        shorten();
        evictExpired();
      },
      find(reading) {
        evictExpired();
        return pages.get(reading);
      },
      list() {
        evictExpired();
        const byUrl = new Map<string, RecentPage>();
        for (const page of [...pages.values()].reverse()) if (!byUrl.has(page.url)) byUrl.set(page.url, page);
        return [...byUrl.values()];
      },
      clear() {
        for (const page of pages.values()) drop(page);
      },
    };
  }

  return {
    open,
    of(name) {
      const recent = named.get(name) ?? open();
      named.delete(name);
      named.set(name, recent);
      const [oldest] = named;
      if (named.size > MAX_NAMES && oldest) {
        named.delete(oldest[0]);
        oldest[1].clear();
      }
      return recent;
    },
  };
}

/** Stores nothing: for callers that cannot be distinguished. */
export const noRecentPages: RecentPages = { put() {}, find: () => undefined, list: () => [], clear() {} };
