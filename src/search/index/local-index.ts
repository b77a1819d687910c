/**
 * The contract of the local index: pages that this server has read, which can be searched without a provider or a
 * network.
 */
import type { Hit } from '../hit.ts';
import type { SearchQuery } from '../query.ts';

export interface IndexablePage {
  readonly url: string;
  /** The canonical URL that the page declares, if it differs. */
  readonly canonicalUrl?: string | undefined;
  readonly title: string;
  /** The description that the page declares. */
  readonly description?: string | undefined;
  /** Markdown. Offsets of passages refer to it. */
  readonly content: string;
  /** The language that the page declares; the language detected in the text takes precedence. */
  readonly language?: string | undefined;
  readonly siteName?: string | undefined;
  /** In ms since 1970. */
  readonly publishedAt?: number | undefined;
  readonly mediaType?: string | undefined;
  /** Who can find the page (owners.ts); everyone by default. */
  readonly owner?: string | undefined;
}

export interface LocalIndex {
  /**
   * Resolves when the page is stored durably: true if it was added or replaced another version, false if nothing has
   * changed or it has no words. Pages added in quick succession are written in one batch.
   */
  add(page: IndexablePage): Promise<boolean>;
  /** Removes the pages of all owners at a URL. Returns whether any existed. */
  remove(url: string): Promise<boolean>;
  /** Finds pages, best first, with their best passages. */
  search(query: SearchQuery, options?: IndexSearchOptions): Promise<Hit[]>;
  /** Resolves when all pages are stored and embedded, as far as the embedding model is available. */
  flush(): Promise<void>;
  stats(): Promise<IndexStats>;
  /**
   * Removes the oldest pages until the index is no larger than `maxBytes` (default: the configured maximum). Returns
   * the number of pages removed.
   */
  prune(maxBytes?: number): Promise<number>;
  /** Removes everything. */
  clear(): Promise<void>;
  /** Writes pending pages first. A second call does nothing. */
  close(): Promise<void>;
}

export type Retriever = 'words' | 'meaning';

export interface IndexSearchOptions {
  readonly signal?: AbortSignal | undefined;
  /** Reranks the best passages. If it fails, the order is unchanged. */
  readonly rerank?: PassageReranker | undefined;
  /** Retrievers to use; both by default. */
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
  /** The total size of the pages that counts toward the maximum. */
  readonly bytes: number;
  /** Number of pages that are found only with `LECTERN_INDEX_SHARED=all`. */
  readonly onlyAll: number;
  /** Number of pages by language, the most frequent first. */
  readonly languages: Readonly<Record<string, number>>;
  /** When the oldest page was last read, in ms since 1970. */
  readonly oldestAt?: number | undefined;
}

/** Embeds texts. */
export interface IndexEmbedder {
  /** Identifies the model. Passages whose vectors have another id are embedded again. */
  readonly id: string;
  readonly dimensions: number;
  /** The cosine below which a passage is irrelevant to a query. */
  readonly floor: number;
  /** Weight of the ranking by meaning, relative to the ranking by words. */
  readonly weight: number;
  /** Returns one vector for each text, of any length. */
  embed(texts: readonly string[], task: 'query' | 'passage', signal?: AbortSignal): Promise<readonly Float32Array[]>;
}
