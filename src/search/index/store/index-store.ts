/**
 * Interface of an index store, implemented by the SQLite and PostgreSQL stores. Ids are passage ids unless stated
 * otherwise.
 */
import type { Filters } from '../query/filters.ts';
import type { Slot } from '../text/terms.ts';
import type { PreparedPage } from '../write/prepare-page.ts';

/** IndexStore.overlap of a database that several servers write to. */
export const SHARED_OVERLAP = 200;

export interface IndexStore {
  /**
   * Number of ids and of sequence numbers to read again when new rows are read. With several writers at a time, a row
   * may become visible after rows with higher numbers.
   */
  readonly overlap: number;
  /**
   * Durably writes either all pages or none. A page replaces the page with the same key, and any page of owner `all` at
   * the same URL. Returns false for each page whose content the owner already has, at this URL or another.
   */
  write(pages: readonly PreparedPage[]): Promise<boolean[]>;
  /** Removes the pages of all owners at a URL. */
  remove(url: string): Promise<boolean>;
  /** Finds passages that contain any of the slots. */
  byWords(slots: readonly Slot[], filters: Filters, limit: number): Promise<WordMatches>;
  /** Returns the total weight of the slots that each passage contains. Passages without any may be missing. */
  coverage(slots: readonly WeightedSlot[], ids: readonly number[]): Promise<Map<number, number>>;
  /** Returns the page of each passage, without passages that have been removed. */
  pagesOf(ids: readonly number[]): Promise<Map<number, number>>;
  /** Returns all passages of pages that match the filters. */
  filteredIds(filters: Filters): Promise<number[]>;
  /** Returns the first passage of each page that matches the filters, newest pages first. */
  newest(filters: Filters, limit: number): Promise<number[]>;
  /** Returns the rows in any order, without passages that have been removed. */
  rows(ids: readonly number[]): Promise<PassageRow[]>;
  /** Returns pages with an id above `after`, in order of id, with their passages in order. */
  storedPages(after: number, limit: number): Promise<StoredPage[]>;
  /** Returns the passages of a page, in order. */
  textsOf(page: number): Promise<string[]>;
  /** Returns the highest id of a passage; 0 if there is none. */
  lastPassage(): Promise<number>;
  /** Returns passages with an id above `after` that have no vector of the model, in order of id. */
  withoutVector(model: string, after: number, limit: number): Promise<UnembeddedRow[]>;
  /** Stores vectors, except those of passages that have been removed in the meantime. */
  writeCodes(model: string, codes: readonly { readonly id: number; readonly code: Uint8Array }[]): Promise<void>;
  /** Returns vectors in the order in which they were stored, starting at `seq`. */
  codesFrom(model: string, seq: number, limit: number): Promise<CodeRow[]>;
  codes(model: string, ids: readonly number[]): Promise<Map<number, Uint8Array>>;
  /**
   * Returns the nearest passages with their cosines, nearest first. Present only in stores whose database supports
   * vector search.
   */
  nearest?(model: string, vector: Float32Array, filters: Filters, limit: number): Promise<NearPassage[]>;
  /** Returns those of the URLs that have a page. */
  urlsAmong(urls: readonly string[]): Promise<string[]>;
  stats(model: string | undefined): Promise<StoreStats>;
  /** Returns the number of pages by language; the key of pages without a known language is empty. */
  languages(): Promise<ReadonlyMap<string, number>>;
  /** Returns the total size of the pages, in bytes. */
  bytes(): Promise<number>;
  /** Removes the oldest pages until the rest use at most `maxBytes`. Returns the number of removed pages. */
  prune(maxBytes: number): Promise<number>;
  clear(): Promise<void>;
  close(): Promise<void>;
}

export interface WordMatches {
  /** Best first; equal scores in order of id. */
  readonly matches: readonly WordMatch[];
  /** The slots that were looked up: frequent ones are omitted if there are rarer ones. */
  readonly slots: readonly WeightedSlot[];
}

export interface WordMatch {
  readonly id: number;
  readonly page: number;
  /** See PassageSignals.words. */
  readonly score: number;
}

export interface WeightedSlot {
  readonly slot: Slot;
  /** The inverse document frequency. */
  readonly weight: number;
}

export interface NearPassage {
  readonly id: number;
  readonly similarity: number;
}

export interface PassageRow {
  readonly id: number;
  readonly page: number;
  readonly heading: string;
  readonly text: string;
  readonly start: number;
  readonly end: number;
  readonly url: string;
  readonly title: string;
  readonly description: string;
  readonly siteName: string;
  readonly language: string;
  readonly publishedAt: number | null;
}

/** A page as it was written, without the terms of its passages. */
export interface StoredPage extends Omit<PreparedPage, 'passages'> {
  readonly id: number;
  readonly passages: readonly Pick<PassageRow, 'heading' | 'text' | 'start' | 'end'>[];
}

export interface UnembeddedRow {
  readonly id: number;
  readonly title: string;
  readonly heading: string;
  readonly text: string;
}

export interface CodeRow {
  readonly seq: number;
  readonly id: number;
  readonly code: Uint8Array;
  /** The owner of the page that contains the passage. It never changes. */
  readonly owner: string;
}

export interface StoreStats {
  readonly pages: number;
  readonly passages: number;
  readonly vectors: number;
  readonly bytes: number;
  readonly onlyAll: number;
  readonly languages: Record<string, number>;
  readonly oldestAt: number | undefined;
}
