/** Functions of other modules that the built-in executors call. The program passes them in. */

/** A URL, or the bytes of a file. */
export type ReadSource =
  | { readonly url: string }
  | { readonly bytes: Uint8Array; readonly mediaType: string; readonly name?: string | undefined };

export interface ReadPage {
  /** Markdown. */
  readonly text: string;
  /** Final URL after redirects; `undefined` for a file. */
  readonly url?: string | undefined;
  readonly title?: string | undefined;
  readonly description?: string | undefined;
  /** Publication date, as written on the page. */
  readonly published?: string | undefined;
  readonly warning?: string | undefined;
}

export type Read = (source: ReadSource, signal: AbortSignal) => Promise<ReadPage>;

/** A passage of a text from `start` to `end`, in UTF-16 units. */
export interface TextPassage {
  readonly start: number;
  readonly end: number;
  /** Headings above the passage, outermost first, joined by ` > `. */
  readonly heading: string;
}

export interface EmbedAsk {
  /** Id of the model; the default model if not set. */
  readonly model?: string | undefined;
  readonly side: 'query' | 'passage';
  readonly dimensions?: number | undefined;
  readonly signal: AbortSignal;
}

export interface RerankAsk {
  readonly model?: string | undefined;
  readonly signal: AbortSignal;
}

export interface OcrAsk {
  /** Tesseract language codes; the default ones if not set. */
  readonly languages?: readonly string[] | undefined;
  readonly signal: AbortSignal;
}

/** A document to index. */
export interface Entry {
  readonly id: string;
  /** An http or https URL. A new document replaces one with the same URL. */
  readonly url?: string | undefined;
  readonly title: string;
  readonly description?: string | undefined;
  /** Markdown. Passage offsets refer to it. */
  readonly content: string;
  readonly language?: string | undefined;
}

export interface FoundPassage {
  /** Id of the document. */
  readonly id: string;
  readonly url?: string | undefined;
  readonly title: string;
  readonly heading: string;
  readonly text: string;
  readonly start: number;
  readonly end: number;
  /** Higher is better. Comparable only within one result list. */
  readonly score: number;
}

/** A searchable set of stored documents, shared by all executors that open it under the same name. */
export interface Collection {
  /** Resolves when the documents are stored. Returns for each whether it is new or changed. */
  add(entries: readonly Entry[]): Promise<boolean[]>;
  /** Removes a document by id, else by URL. Returns whether it existed. */
  remove(entry: Pick<Entry, 'id' | 'url'>): Promise<boolean>;
  /** The passages that best answer a question, best first. */
  search(question: string, options: { readonly limit: number; readonly signal: AbortSignal }): Promise<FoundPassage[]>;
  close(): Promise<void>;
}

/** Failures should be Problems. Callers may see the message of any other error. */
export interface BuiltInTools {
  /** Creates a function that reads with these reader options. Throws a ParamValidationError for an invalid option. */
  reading(options: Readonly<Record<string, unknown>>): Read;
  /** Splits a text into passages, in order. Only blank lines are dropped. */
  cut(text: string): readonly TextPassage[];
  /** One vector of length 1 for each text. */
  embed(texts: readonly string[], ask: EmbedAsk): Promise<readonly Float32Array[]>;
  /** One score for each text, in their order. Higher is better. */
  rerank(query: string, texts: readonly string[], ask: RerankAsk): Promise<readonly number[]>;
  /** Opens a collection by name: letters, digits, - and _. */
  openCollection(name: string): Promise<Collection>;
  /** Absent when text recognition is turned off. */
  readonly ocr?:
    | ((picture: Uint8Array, ask: OcrAsk) => Promise<{ readonly text: string; readonly confidence: number }>)
    | undefined;
}
