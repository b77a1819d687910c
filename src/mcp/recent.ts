/**
 * The pages that somebody read lately: a list for their client to show, and the texts, so that the rest of a long page is
 * the rest of the same text and is not charged again. Each caller has a recent of their own; each is bounded in number, size
 * and time, and so are all together.
 */

export interface RecentPage {
  readonly url: string;
  /** Of which reading it is: the address and the options that shape the text. */
  readonly reading: string;
  readonly text: string;
  readonly readAt: number;
}

export interface RecentPages {
  put(page: Omit<RecentPage, 'readAt'>): void;
  /** The text of the same reading, while it is remembered. */
  find(reading: string): RecentPage | undefined;
  /** The latest first, each address once. */
  list(): RecentPage[];
  /** Forgets them all. */
  clear(): void;
}

export interface RecentPageStore {
  /** One that nobody else gets. */
  open(): RecentPages;
  /** That of a name. */
  of(name: string): RecentPages;
}

const MAX_PAGES = 30;
const MAX_CHARACTERS = 4_000_000;
/** Of all shelves together; each takes a byte or two. */
const MAX_TOTAL_CHARACTERS = 50_000_000;
const MAX_NAMES = 1_000;
const KEEP_MS = 15 * 60_000;

export function createRecentPageStore(now: () => number = Date.now): RecentPageStore {
  /** Of all shelves, in the order in which they were put, with the recent on which each stands. */
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
        const kept = { ...page, readAt: now() };
        pages.set(kept.reading, kept);
        owners.set(kept, pages);
        characters += kept.text.length;
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

/** Remembers nothing: for callers who cannot be told apart. */
export const noRecentPages: RecentPages = { put() {}, find: () => undefined, list: () => [], clear() {} };
