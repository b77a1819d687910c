/** Where the index is kept: the contract of SQLite's and PostgreSQL's tables. Ids are of passages unless said otherwise. */
import type { Filters } from './filters.ts';
import type { PreparedPage } from './prepare.ts';
import type { Slot } from './terms.ts';

export interface IndexStore {
  /**
   * All of them or none, for good; a page replaces the one with its key, and one at its URL that only `all` shares. False
   * for each that its owner has there already word for word, at this URL or at another.
   */
  write(pages: readonly PreparedPage[]): Promise<boolean[]>;
  /** Pages of all owners. */
  remove(url: string): Promise<boolean>;
  /** Passages with any of the slots, best first. */
  byWords(slots: readonly Slot[], filters: Filters, limit: number): Promise<number[]>;
  /** All passages that filters let through. */
  within(filters: Filters): Promise<number[]>;
  /** The first passage of each page that filters let through, those read last first. */
  newest(filters: Filters, limit: number): Promise<number[]>;
  /** In any order; those that are gone are left out. */
  rows(ids: readonly number[]): Promise<PassageRow[]>;
  /** The texts of a page, in order. */
  textsOf(page: number): Promise<string[]>;
  /** Passages after `after` without a vector of that model, in the order of their ids. */
  lacking(model: string, after: number, limit: number): Promise<LackingRow[]>;
  /** Vectors of passages that are gone meanwhile are dropped. */
  keepCodes(model: string, codes: readonly { readonly id: number; readonly code: Uint8Array }[]): Promise<void>;
  /** Vectors in the order of their keeping, from `seq` on. */
  codesFrom(model: string, seq: number, limit: number): Promise<CodeRow[]>;
  codes(model: string, ids: readonly number[]): Promise<Map<number, Uint8Array>>;
  /** Set where the database itself looks for vectors: the ids of the nearest with their cosines, nearest first. */
  nearest?(model: string, vector: Float32Array, filters: Filters, limit: number): Promise<Near[]>;
  stats(model: string | undefined): Promise<StoreStats>;
  /** Removes the pages read longest ago until `maxBytes` are taken at most; how many. */
  prune(maxBytes: number): Promise<number>;
  clear(): Promise<void>;
  close(): Promise<void>;
}

export interface Near {
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

export interface LackingRow {
  readonly id: number;
  readonly title: string;
  readonly heading: string;
  readonly text: string;
}

export interface CodeRow {
  readonly seq: number;
  readonly id: number;
  readonly code: Uint8Array;
  /** Of its page; it never changes. */
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
