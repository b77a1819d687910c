/**
 * Interface of the local index: pages that this server has read and that can be searched without a provider or a
 * network.
 */
import type { Hit } from '../hit.ts';
import type { SearchQuery } from '../query.ts';
import type { Spread } from '../relevance.ts';

export interface IndexablePage {
  readonly url: string;
  /** The canonical URL declared by the page, if it differs from its URL. */
  readonly canonicalUrl?: string | undefined;
  readonly title: string;
  /** The description declared by the page. */
  readonly description?: string | undefined;
  /** Content as Markdown. Offsets of passages refer to it. */
  readonly content: string;
  /** The language declared by the page. The language detected in the text takes precedence. */
  readonly language?: string | undefined;
  readonly siteName?: string | undefined;
  /** In ms since 1970. */
  readonly publishedAt?: number | undefined;
  readonly mediaType?: string | undefined;
  /** Who can find the page (owners.ts). Default: everyone. */
  readonly owner?: string | undefined;
}

export interface LocalIndex {
  /**
   * Resolves when the page has been stored durably. The value is true if the page was added or replaced another
   * version, and false if nothing has changed or it contains no words. Pages added in quick succession are written in
   * one batch.
   */
  add(page: IndexablePage): Promise<boolean>;
  /** Removes the pages of all owners at a URL. Returns whether there were any. */
  remove(url: string): Promise<boolean>;
  /** Returns those of the normalized URLs (`indexUrl`) that have a page of any owner. */
  urlsAmong(urls: readonly string[]): Promise<string[]>;
  /** Finds pages, best first, with their best passages. */
  search(query: SearchQuery, options?: IndexSearchOptions): Promise<Hit[]>;
  /** Resolves when all pages have been stored and, if the embedding model is available, embedded. */
  flush(): Promise<void>;
  stats(): Promise<IndexStats>;
  /**
   * Removes the oldest pages until the index is no larger than `maxBytes`, by default the configured maximum. Returns
   * the number of removed pages.
   */
  prune(maxBytes?: number): Promise<number>;
  /** Removes everything. */
  clear(): Promise<void>;
  /** Writes pending pages before closing. A second call does nothing. */
  close(): Promise<void>;
}

export type Retriever = 'words' | 'meaning';

export interface IndexSearchOptions {
  readonly signal?: AbortSignal | undefined;
  /** Reranks the best passages. If reranking fails, the order is unchanged. */
  readonly rerank?: PassageReranker | undefined;
  /** Retrievers to use. Default: both. */
  readonly by?: readonly Retriever[] | undefined;
  /** Finds only pages of these owners (owners.ts). Default: pages of all owners. */
  readonly owners?: readonly string[] | undefined;
}

/** Returns a score for each text; higher is better. */
export type PassageReranker = (
  query: string,
  texts: readonly string[],
  signal: AbortSignal | undefined,
) => Promise<ArrayLike<number>>;

export interface IndexStats {
  readonly pages: number;
  readonly passages: number;
  /** Number of passages with a vector of the current model. */
  readonly vectors: number;
  /** Total size of the pages, as compared with the maximum, in bytes. */
  readonly bytes: number;
  /** Number of pages that are found only with `LECTERN_INDEX_SHARED=all`. */
  readonly onlyAll: number;
  /** Number of pages by language, most frequent language first. */
  readonly languages: Readonly<Record<string, number>>;
  /** When the oldest page was last read, in ms since 1970. */
  readonly oldestAt?: number | undefined;
}

/** Embedding model for passages and queries. */
export interface IndexEmbedder {
  /** Identifies the model. Passages whose vectors have a different id are embedded again. */
  readonly id: string;
  readonly dimensions: number;
  /** How the cosines of unrelated texts are distributed. If unknown, it is measured on the passages of the index. */
  readonly spread?: Spread | undefined;
  /** Weight of the meaning, relative to the built-in model. */
  readonly weight: number;
  /** Returns one vector for each text. The vectors need not be normalized. */
  embed(texts: readonly string[], task: 'query' | 'passage', signal?: AbortSignal): Promise<readonly Float32Array[]>;
}
