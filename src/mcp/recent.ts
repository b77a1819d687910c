/**
 * The pages that somebody read lately: a list for their client to show, and the texts, so that the rest of a long page is
 * the rest of the same text and is not charged again. Each caller has a shelf of their own; each is bounded in number, size
 * and time, and so are all together.
 */

export interface RecentPage {
  readonly url: string;
  /** Of which reading it is: the address and the options that shape the text. */
  readonly reading: string;
  readonly text: string;
  readonly readAt: number;
}

export interface Shelf {
  put(page: Omit<RecentPage, 'readAt'>): void;
  /** The text of the same reading, while it is remembered. */
  find(reading: string): RecentPage | undefined;
  /** The latest first, each address once. */
  list(): RecentPage[];
  /** Forgets them all. */
  clear(): void;
}

export interface Shelves {
  /** One that nobody else gets. */
  open(): Shelf;
  /** That of a name. */
  of(name: string): Shelf;
}

const MAX_PAGES = 30;
const MAX_CHARACTERS = 4_000_000;
/** Of all shelves together; each takes a byte or two. */
const MAX_CHARACTERS_OF_ALL = 50_000_000;
const MAX_NAMES = 1_000;
const KEPT_MS = 15 * 60_000;

export function createShelves(now: () => number = Date.now): Shelves {
  /** Of all shelves, in the order in which they were put, with the shelf on which each stands. */
  const places = new Map<RecentPage, Map<string, RecentPage>>();
  let characters = 0;
  const named = new Map<string, Shelf>();

  function drop(page: RecentPage): void {
    places.get(page)?.delete(page.reading);
    places.delete(page);
    characters -= page.text.length;
  }

  function tidy(): void {
    for (const page of places.keys()) {
      if (characters <= MAX_CHARACTERS_OF_ALL && now() - page.readAt <= KEPT_MS) return;
      drop(page);
    }
  }

  function open(): Shelf {
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
        places.set(kept, pages);
        characters += kept.text.length;
        shorten();
        tidy();
      },
      find(reading) {
        tidy();
        return pages.get(reading);
      },
      list() {
        tidy();
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
      const shelf = named.get(name) ?? open();
      named.delete(name);
      named.set(name, shelf);
      const [oldest] = named;
      if (named.size > MAX_NAMES && oldest) {
        named.delete(oldest[0]);
        oldest[1].clear();
      }
      return shelf;
    },
  };
}

/** Remembers nothing: for callers who cannot be told apart. */
export const noShelf: Shelf = { put() {}, find: () => undefined, list: () => [], clear() {} };
