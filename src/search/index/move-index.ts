/**
 * Moves the pages of an index between two stores. The terms of passages are computed again, and so are the
 * vectors, by the server. Writing a page twice changes nothing, so a move that was stopped can be repeated.
 */
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import type { IndexStore, StoredPage } from './store/index-store.ts';
import { type IndexPlace, openIndexStore } from './store/open-store.ts';
import { storable } from './store/postgres-conditions.ts';
import { type PreparedPage, passageTerms } from './write/prepare-page.ts';

export interface IndexMove {
  readonly from: IndexPlace;
  readonly to: IndexPlace;
  /** Whether the target may have pages already. */
  readonly continues: boolean;
  readonly onProgress?: ((pages: number) => void) | undefined;
}

/** The pages and passages on both sides. */
export interface MovedIndex {
  readonly pages: number;
  readonly before: string;
  readonly after: string;
}

const PAGES_AT_ONCE = 25;

/** Returns `undefined` if there is no index, and 'filled' if the target must be empty but is not. */
export async function moveIndex({
  from,
  to,
  continues,
  onProgress,
}: IndexMove): Promise<MovedIndex | 'filled' | undefined> {
  if (!from.url && !existsSync(from.file)) return undefined;
  const [source, target] = [await openIndexStore(from), await openIndexStore(to)];
  try {
    if (!continues && (await target.storedPages(0, 1)).length > 0) return 'filled';
    let pages = 0;
    for await (const some of storedPages(source)) {
      await target.write(some.map(prepareAgain));
      pages += some.length;
      onProgress?.(pages);
    }
    return { pages, before: await checksumOf(source), after: await checksumOf(target) };
  } finally {
    await Promise.all([source.close(), target.close()]);
  }
}

async function* storedPages(store: IndexStore): AsyncGenerator<StoredPage[]> {
  let after = 0;
  for (;;) {
    const pages = await store.storedPages(after, PAGES_AT_ONCE);
    if (pages.length === 0) return;
    yield pages;
    after = pages.at(-1)!.id;
  }
}

function prepareAgain({ id: _, passages, ...page }: StoredPage): PreparedPage {
  const termsOf = passageTerms(page.title, new URL(page.url), page.language || undefined);
  return {
    ...page,
    passages: passages.map((passage) => ({ ...passage, terms: termsOf(passage.heading, passage.text) })),
  };
}

/** The same for the same pages, whatever their order and ids. */
async function checksumOf(store: IndexStore): Promise<string> {
  let sum = 0n;
  for await (const pages of storedPages(store)) {
    for (const { id: _, ...page } of pages) {
      const fields = Object.entries(page).sort(([a], [b]) => (a < b ? -1 : 1));
      // PostgreSQL cannot store every character.
      const text = JSON.stringify(fields, (_, value) => (typeof value === 'string' ? storable(value) : value));
      sum = BigInt.asUintN(64, sum + createHash('sha256').update(text).digest().readBigUInt64BE());
    }
  }
  return sum.toString(16).padStart(16, '0');
}
