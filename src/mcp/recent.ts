/**
 * The pages that somebody read lately: a list for their client to show, and the texts, so that the rest of a long page is
 * the rest of the same text and is not charged again. Bounded in number, size and time; each caller has a shelf of their
 * own.
 */

export interface RecentPage {
  readonly url: string;
  readonly title: string;
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
}

const MAX_PAGES = 30;
const MAX_CHARACTERS = 4_000_000;
const KEPT_MS = 15 * 60_000;

export function createShelf(now: () => number = Date.now): Shelf {
  /** In the order in which they were put. */
  const pages = new Map<string, RecentPage>();
  const tidy = () => {
    let characters = 0;
    for (const page of pages.values()) characters += page.text.length;
    for (const [reading, page] of pages) {
      const over = pages.size > MAX_PAGES || characters > MAX_CHARACTERS;
      if (!over && now() - page.readAt <= KEPT_MS) return;
      pages.delete(reading);
      characters -= page.text.length;
    }
  };
  return {
    put(page) {
      pages.delete(page.reading);
      pages.set(page.reading, { ...page, readAt: now() });
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
  };
}

/** Remembers nothing: for callers who cannot be told apart. */
export const noShelf: Shelf = { put() {}, find: () => undefined, list: () => [] };

const MAX_SHELVES = 50;

/** A shelf for each name; those that were not asked for longest go first. */
export function createShelves(): (name: string) => Shelf {
  const shelves = new Map<string, Shelf>();
  return (name) => {
    const shelf = shelves.get(name) ?? createShelf();
    shelves.delete(name);
    shelves.set(name, shelf);
    if (shelves.size > MAX_SHELVES) shelves.delete(shelves.keys().next().value!);
    return shelf;
  };
}
