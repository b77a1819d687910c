/** What the ready-made executors work with: functions of other rooms, handed in by whoever builds the flow. */

/** What is read: an address, or a file that came along. */
export type ReadSource =
  | { readonly url: string }
  | { readonly bytes: Uint8Array; readonly mediaType: string; readonly name?: string | undefined };

export interface ReadPage {
  /** Markdown. */
  readonly text: string;
  /** Where it was in the end, after redirects; undefined for a file. */
  readonly url?: string | undefined;
  readonly title?: string | undefined;
  readonly description?: string | undefined;
  /** As the page says it. */
  readonly published?: string | undefined;
  readonly warning?: string | undefined;
}

export type Read = (source: ReadSource, signal: AbortSignal) => Promise<ReadPage>;

/** A part of a text, in UTF-16 units from `start` up to `end`. */
export interface Cut {
  readonly start: number;
  readonly end: number;
  /** The headings that it stands below, outermost first, parted by ` > `. */
  readonly heading: string;
}

export interface EmbedAsk {
  /** The standard one when not given. */
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
  /** By their Tesseract names; the standard ones when not given. */
  readonly languages?: readonly string[] | undefined;
  readonly signal: AbortSignal;
}

/** A document as it is kept for searching. */
export interface Entry {
  readonly id: string;
  /** Of http or https; another document of the same address is replaced. */
  readonly url?: string | undefined;
  readonly title: string;
  readonly description?: string | undefined;
  /** Markdown. Offsets of passages are counted in it. */
  readonly content: string;
  readonly language?: string | undefined;
}

export interface FoundPassage {
  /** The document's. */
  readonly id: string;
  readonly url?: string | undefined;
  readonly title: string;
  readonly heading: string;
  readonly text: string;
  readonly start: number;
  readonly end: number;
  /** Higher is better; to be compared within one answer only. */
  readonly score: number;
}

/** Documents that are kept and can be searched. All who open the same one share it. */
export interface Collection {
  /** Resolves when they are kept for good: for each whether it is new or changed. */
  add(entries: readonly Entry[]): Promise<boolean[]>;
  /** By id, else by address; whether it was there. */
  remove(entry: Pick<Entry, 'id' | 'url'>): Promise<boolean>;
  /** The passages that answer a question, best first. */
  search(question: string, options: { readonly limit: number; readonly signal: AbortSignal }): Promise<FoundPassage[]>;
  close(): Promise<void>;
}

/** Failures are problems; what else they throw must be fit to be seen by callers. */
export interface BuiltInTools {
  /** A way to read, with options of the reader by their names; throws a ParamValidationError for one that cannot be. */
  reading(options: Readonly<Record<string, unknown>>): Read;
  /** In order, leaving out nothing but blank lines. */
  cut(text: string): readonly Cut[];
  /** A vector of length 1 a text. */
  embed(texts: readonly string[], ask: EmbedAsk): Promise<readonly Float32Array[]>;
  /** A score a text, in their order; higher is better. */
  rerank(query: string, texts: readonly string[], ask: RerankAsk): Promise<readonly number[]>;
  /** By its name: letters, digits, - and _. */
  openCollection(name: string): Promise<Collection>;
  /** Absent when text recognition is turned off. */
  readonly ocr?:
    | ((picture: Uint8Array, ask: OcrAsk) => Promise<{ readonly text: string; readonly confidence: number }>)
    | undefined;
}
