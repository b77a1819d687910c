/**
 * Types of the responses of all APIs, in the wire format. This file imports nothing, so the types work in every
 * program.
 */

/** What was sent in place of the content, and the product or site that sent it, or `generic`. */
export interface Blocked {
  kind:
    | 'challenge'
    | 'denied'
    | 'rate-limit'
    | 'login'
    | 'paywall'
    | 'consent'
    | 'age'
    | 'geo'
    | 'not-found'
    | 'parked'
    | 'js-shell'
    | 'server-default'
    | 'server-error'
    | 'maintenance';
  by: string;
}

/** A page that was read. The options decide which optional fields are present. */
export interface Page {
  title: string;
  description: string;
  url: string;
  /** HTTP status of the page after redirects; missing for uploaded HTML and files. */
  targetStatus?: number;
  /** Set if the page is not the content but was sent in its place, for example a challenge or a login. */
  blocked?: Blocked;
  /** Markdown, or the output of a model. */
  content?: string;
  /** The Markdown in chunks, with `markdownChunking`. */
  chunks?: string[];
  /** The first and last page of each chunk, for documents with pages. */
  chunkPages?: [first: number, last: number][];
  publishedTime?: string;
  html?: string;
  text?: string;
  screenshotUrl?: string;
  pageshotUrl?: string;
  /** Cookies and local storage after the read, with `exportStorageState`. */
  storageState?: StorageState;
  /** The number of pages of the document, if it was read completely. */
  numPages?: number;
  /** The pages of the document that were read. */
  pages?: DocumentPage[];
  /** Link texts and URLs, with `withLinksSummary`; pairs with `all`. */
  links?: Record<string, string> | [string, string][];
  images?: Record<string, string>;
  /** Warnings about the content, such as an error status of the page. */
  warning?: string;
  metadata?: Record<string, string>;
  external?: Record<string, Record<string, Record<string, string>>>;
  /** How the content was chosen, with `explain`. */
  explanation?: Explanation;
  usage: { tokens: number };
}

/** A page, slide, sheet or chapter of a document. */
export interface DocumentPage {
  /** Counted from 1. */
  number: number;
  /** The title of a slide or chapter; the name of a sheet. */
  name?: string;
  /** The text of the page is `content.slice(start, end)`; offsets count UTF-16 code units. */
  start: number;
  end: number;
  /** In points (1/72 inch). */
  width?: number;
  height?: number;
}

/** A rectangle on a page of a document, in points from its upper left corner. */
export interface PageBox {
  readonly page: number;
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

export interface StorageState {
  readonly cookies: readonly {
    readonly name: string;
    readonly value: string;
    readonly domain: string;
    readonly path: string;
    /** Seconds since 1970; -1 for a session cookie. */
    readonly expires: number;
    readonly httpOnly: boolean;
    readonly secure: boolean;
    readonly sameSite: 'Strict' | 'Lax' | 'None';
  }[];
  readonly origins: readonly {
    readonly origin: string;
    readonly localStorage: readonly { readonly name: string; readonly value: string }[];
  }[];
}

/** How the content of a page was chosen. */
export interface Explanation {
  version: string;
  kind?: string;
  kindConfidence?: number;
  /** Confidence in the chosen content, 0 to 1. */
  confidence: number;
  source: string;
  /** Removed elements, with the step and rule that removed them. */
  removed: {
    step: string;
    rule: string;
    /** Selects the element in the original document. */
    selector: string;
    words: number;
    /** The first words of the element. */
    text: string;
    hidden?: true;
    probability?: number;
    threshold?: number;
    signs?: string[];
  }[];
  removedCount: number;
  /** Source element of each Markdown block. */
  blocks: { line: number; lines: number; selector: string; text: string; page?: number; box?: PageBox }[];
  blockCount: number;
}

/** A search result, which includes the content of its page once that has been read. */
export interface FoundPage extends Omit<Partial<Page>, 'title' | 'url' | 'description' | 'content' | 'usage'> {
  title: string;
  url: string;
  description: string;
  source?: string;
  date?: string;
  /** Author and license, if the terms of the source ask for them. */
  attribution?: string;
  imageUrl?: string;
  imageWidth?: number;
  imageHeight?: number;
  siteLinks?: readonly { readonly title: string; readonly link: string; readonly snippet?: string | undefined }[];
  /** Markdown; empty if the page was not read. */
  content: string;
  /** The selected passages, with `passages`. */
  passages?: { text: string; heading?: string; tokens: number; page?: number; box?: PageBox }[];
  favicon?: string;
  usage: { tokens: number };
}

/** Steps of a request and their durations, with `trace`. */
export interface Trace {
  readonly id: string;
  readonly duration_ms: number;
  readonly spans: readonly {
    readonly name: string;
    /** Time since the start of the request. */
    readonly start_ms: number;
    readonly duration_ms: number;
    readonly [fact: string]: string | number | boolean;
  }[];
  readonly counts: Readonly<Record<string, number | undefined>>;
  readonly cache?: string;
  readonly engine?: string;
}

export interface Meta {
  readonly usage: { readonly tokens: number };
  readonly trace?: Trace;
  /** For searches: a notice about the results, such as sources that did not answer. */
  readonly notice?: string;
}

export interface ReadAnswer {
  readonly page: Page;
  readonly meta: Meta;
}

export interface SearchAnswer {
  readonly pages: readonly FoundPage[];
  readonly meta: Meta;
}

export type Vector = readonly number[] | string;

export interface Embedding {
  readonly object: 'embedding' | 'embeddings';
  /** Index of the input. */
  readonly index: number;
  /** Numbers or base64 text; an object keyed by type if several types were requested, or weights keyed by token. */
  readonly embedding: Vector | Readonly<Record<string, Vector | number>>;
  /** One vector per token, with `return_multivector`. */
  readonly embeddings?: readonly (Vector | Readonly<Record<string, Vector>>)[];
  readonly tokenized_input?: readonly string[];
}

export interface EmbeddingsAnswer {
  readonly object: 'list';
  readonly model: string;
  readonly data: readonly Embedding[];
  readonly usage: { readonly total_tokens: number; readonly prompt_tokens?: number };
  readonly trace?: Trace;
}

export interface RerankAnswer {
  readonly object: 'list';
  readonly model: string;
  /** Best first. */
  readonly results: readonly {
    /** Index of the document. */
    readonly index: number;
    readonly relevance_score: number;
    readonly document?: { readonly text?: string; readonly [field: string]: unknown };
  }[];
  readonly usage: { readonly total_tokens: number };
}

/** An available model. */
export interface Model {
  readonly id: string;
  readonly object: 'model';
  readonly name: string;
  readonly description: string;
  readonly hugging_face_id: string;
  readonly created: number;
  readonly owned_by: string;
  readonly input_modalities: readonly string[];
  readonly output_modalities: readonly string[];
  /** Maximum number of tokens per input. */
  readonly context_length: number;
  /** Length of the vectors, for embedding models. */
  readonly max_output_length: number;
  readonly quantization: string;
  readonly pricing: Readonly<Record<string, string>>;
  readonly supported_features: readonly string[];
  readonly [fact: string]: unknown;
}

export interface ChatPart {
  readonly type: string;
  readonly [field: string]: unknown;
}

export interface ChatRequest {
  readonly model?: string | undefined;
  readonly messages: readonly {
    readonly role: 'system' | 'developer' | 'user' | 'assistant';
    readonly content: string | readonly ChatPart[];
  }[];
  readonly max_tokens?: number | undefined;
  readonly temperature?: number | undefined;
  readonly stop?: string | readonly string[] | undefined;
  readonly output_format?: 'markdown' | 'text' | 'html' | 'json' | 'hocr' | undefined;
  readonly stream_options?: { readonly include_usage?: boolean } | undefined;
  readonly [field: string]: unknown;
}

export interface ChatUsage {
  readonly prompt_tokens: number;
  readonly completion_tokens: number;
  readonly total_tokens: number;
}

export interface ChatCompletion {
  readonly id: string;
  readonly object: 'chat.completion';
  readonly created: number;
  readonly model: string;
  readonly choices: readonly {
    readonly index: number;
    readonly message: { readonly role: 'assistant'; readonly content: string };
    readonly finish_reason: string;
  }[];
  readonly usage: ChatUsage;
  /** What to know about the text: for example, numbers that two recognizers read differently. */
  readonly warning?: string;
}

export interface ChatChunk {
  readonly id: string;
  readonly object: 'chat.completion.chunk';
  readonly created: number;
  readonly model: string;
  readonly choices: readonly {
    readonly index: number;
    readonly delta: { readonly role?: string; readonly content?: string };
    readonly finish_reason: string | null;
  }[];
  readonly usage?: ChatUsage | null;
}

export type BatchState = 'pending' | 'processing' | 'completed' | 'failed' | 'cancelled' | 'expired';

export interface BatchLine {
  readonly custom_id: string;
  readonly body: { readonly input: unknown; readonly [field: string]: unknown };
}

export interface BatchRequest {
  readonly model?: string | undefined;
  /** Set either `input` (the lines) or `input_url` (the URL of a JSONL file). */
  readonly input?: readonly BatchLine[] | undefined;
  readonly input_url?: string | undefined;
  readonly task?: string | undefined;
  readonly dimensions?: number | undefined;
  readonly normalized?: boolean | undefined;
  readonly embedding_type?: string | readonly string[] | undefined;
  readonly truncate?: boolean | undefined;
  readonly webhook_url?: string | undefined;
}

export interface BatchJob {
  readonly batch_id: string;
  readonly status: BatchState;
  readonly model: string;
  readonly created_at: string;
  readonly completed_at: string | null;
  readonly expires_at: string | null;
  readonly stats: {
    readonly total: number;
    readonly completed: number;
    readonly failed: number;
    readonly total_tokens: number;
  } | null;
  readonly output_url: string | null;
  readonly error_file_url: string | null;
  readonly error: string | null;
}

export interface BatchOutput {
  readonly id: string;
  readonly custom_id: string;
  readonly response: { readonly status_code: number; readonly request_id: string; readonly body: EmbeddingsAnswer };
  readonly error: null;
}

export interface BatchError {
  readonly id: string;
  readonly custom_id: string | null;
  /** Line number, from 1. */
  readonly line: number;
  readonly response: null;
  readonly error: { readonly code: string; readonly message: string };
}

/** A document of a flow. In responses, empty fields are null. */
export interface FlowDocument {
  readonly id?: string | null;
  readonly text?: string | null;
  readonly uri?: string | null;
  /** Base64. */
  readonly blob?: string | null;
  readonly mime_type?: string | null;
  readonly tags?: Readonly<Record<string, unknown>> | null;
  readonly embedding?: unknown;
  readonly scores?: Readonly<Record<string, { readonly value?: number | null }>> | null;
  readonly chunks?: readonly FlowDocument[] | null;
  readonly matches?: readonly FlowDocument[] | null;
  readonly [field: string]: unknown;
}

export interface FlowRequest {
  readonly data?: readonly FlowDocument[] | undefined;
  readonly parameters?: Readonly<Record<string, unknown>> | undefined;
  /** A regular expression for the names of executors. */
  readonly targetExecutor?: string | undefined;
}

export interface FlowAnswer {
  readonly header: { readonly requestId: string; readonly [field: string]: unknown };
  readonly parameters: Readonly<Record<string, unknown>>;
  readonly routes?: readonly unknown[] | null;
  readonly data: readonly FlowDocument[];
}

export interface Health {
  readonly status: 'ok' | 'draining';
  readonly version: string;
  readonly uptimeSeconds: number;
  readonly memoryMb: number;
  readonly browser: {
    readonly available: boolean;
    readonly sandboxed?: boolean | undefined;
    readonly version?: string | undefined;
    readonly healthy?: boolean;
    readonly pages?: number;
    readonly waiting?: number;
    /** Browsers on other machines. */
    readonly remote?: { readonly configured: number; readonly connected: number };
  };
  readonly stores: Readonly<Record<string, 'ok' | 'away'>>;
}

export interface CrawlJob {
  readonly crawl_id: string;
  readonly status: 'pending' | 'processing' | 'completed' | 'failed' | 'cancelled' | 'expired';
  /** The first start URL; `urls` contains all of them if there are several. */
  readonly url: string;
  readonly urls?: readonly string[];
  readonly created_at: string;
  readonly completed_at: string | null;
  readonly expires_at: string;
  readonly limit: number;
  readonly depth: number;
  readonly scope: 'path' | 'host' | 'domain';
  readonly stats: {
    readonly found: number;
    readonly done: number;
    readonly failed: number;
    readonly skipped: number;
    readonly tokens: number;
  };
  /** The number of the last line. */
  readonly last_seq: number;
  readonly error: string | null;
}

interface CrawlLineBase {
  /** The number of this line, from 1. */
  readonly seq: number;
  readonly url: string;
  /** Distance from the start URL, in links. */
  readonly depth: number;
}

/** Outcome for one URL of a crawl. */
export type CrawlLine =
  | (CrawlLineBase & { readonly event: 'page'; readonly page: Page })
  | (CrawlLineBase & {
      readonly event: 'failed';
      /** HTTP status of the page, if there was a response. */
      readonly status?: number;
      readonly error: {
        readonly code: number;
        readonly name: string;
        readonly status: number;
        readonly message: string;
      };
    })
  | (CrawlLineBase & {
      readonly event: 'skipped';
      readonly reason: 'duplicate' | 'robots' | 'scope';
      /** URL of the page that it duplicates. */
      readonly of?: string;
      /** Redirect target outside the scope. */
      readonly to?: string;
    });

export type CrawlEvent =
  | { readonly event: 'page'; readonly data: Extract<CrawlLine, { event: 'page' }> }
  | { readonly event: 'failed'; readonly data: Extract<CrawlLine, { event: 'failed' }> }
  | { readonly event: 'skipped'; readonly data: Extract<CrawlLine, { event: 'skipped' }> }
  | { readonly event: 'progress' | 'done'; readonly data: CrawlJob };
