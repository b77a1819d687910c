/** The local index: pages that were read, searchable at once, without a provider and without a network. */
import type { Hit } from '../hit.ts';
import type { SearchQuery } from '../query.ts';

export interface IndexablePage {
  readonly url: string;
  /** What the page itself says is its address, when that differs. */
  readonly canonicalUrl?: string | undefined;
  readonly title: string;
  /** What the page says about itself. */
  readonly description?: string | undefined;
  /** Markdown. Offsets of passages are counted in it. */
  readonly content: string;
  /** As the page declares it; what its words say counts more. */
  readonly language?: string | undefined;
  readonly siteName?: string | undefined;
  /** In ms since 1970. */
  readonly publishedAt?: number | undefined;
  readonly mediaType?: string | undefined;
  /** Who finds it (owners.ts); everybody unless given. */
  readonly owner?: string | undefined;
}

export interface LocalIndex {
  /**
   * Resolves when the page is kept for good: true when it was added or replaces what was there, false when nothing of
   * it is new, or there are no words in it. Pages that come one after the other are written together.
   */
  add(page: IndexablePage): Promise<boolean>;
  /** Removes the pages at a URL, whosever they are; whether there was one. */
  remove(url: string): Promise<boolean>;
  /** Pages that answer, best first, with their best passages; empty for none. */
  search(query: SearchQuery, options?: IndexSearchOptions): Promise<Hit[]>;
  /** Resolves when all that was added is kept and has its vectors, as far as they can be had. */
  settled(): Promise<void>;
  stats(): Promise<IndexStats>;
  /** Removes the oldest pages until at most `maxBytes` are taken, or as many as the index may have; how many went. */
  prune(maxBytes?: number): Promise<number>;
  /** Removes everything. */
  clear(): Promise<void>;
  /** What was added is written first. A second call does nothing. */
  close(): Promise<void>;
}

export type Retriever = 'words' | 'meaning';

export interface IndexSearchOptions {
  readonly signal?: AbortSignal | undefined;
  /** Orders the best passages anew. When it fails the order stays. */
  readonly rerank?: PassageReranker | undefined;
  /** How passages are found; both by default. */
  readonly by?: readonly Retriever[] | undefined;
  /** Only pages of these owners are found (owners.ts); those of all unless given. */
  readonly owners?: readonly string[] | undefined;
}

/** A score for each text, higher is better. */
export type PassageReranker = (
  query: string,
  texts: readonly string[],
  signal: AbortSignal | undefined,
) => Promise<ArrayLike<number>>;

export interface IndexStats {
  readonly pages: number;
  readonly passages: number;
  /** Passages with a vector of the present model. */
  readonly vectors: number;
  /** What the pages count towards the bound. */
  readonly bytes: number;
  /** Pages that are found under `LECTERN_INDEX_SHARED=all` alone. */
  readonly onlyAll: number;
  /** Pages by language, the most frequent first. */
  readonly languages: Readonly<Record<string, number>>;
  /** When the page was read that was not read for longest, in ms since 1970. */
  readonly oldestAt?: number | undefined;
}

/** What makes vectors of texts. */
export interface IndexEmbedder {
  /** Vectors of another id are made anew. */
  readonly id: string;
  readonly dimensions: number;
  /** The cosine under which a passage says nothing about a query. */
  readonly floor: number;
  /** How much its order counts beside that of the words; 1 for as much. */
  readonly weight: number;
  /** A vector a text, of any length. */
  embed(texts: readonly string[], task: 'query' | 'passage', signal?: AbortSignal): Promise<readonly Float32Array[]>;
}
