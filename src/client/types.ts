/** What the faces answer, as it is on the wire. Nothing is imported: these stand alone in every program. */

/** A page as it was read. Which of its parts are there is a matter of the options. */
export interface Page {
  title: string;
  description: string;
  url: string;
  /** The HTTP status of the page's own server, after redirects; absent for what was sent along. */
  targetStatus?: number;
  /** Markdown, or what a model wrote. */
  content?: string;
  /** With `markdownChunking`. */
  chunks?: string[];
  publishedTime?: string;
  html?: string;
  text?: string;
  screenshotUrl?: string;
  pageshotUrl?: string;
  /** With `exportStorageState`. */
  storageState?: StorageState;
  /** Of a document that was read whole. */
  numPages?: number;
  /** From text to address, with `withLinksSummary`; with `all`, pairs of them. */
  links?: Record<string, string> | [string, string][];
  images?: Record<string, string>;
  /** What a reader of the page should know. */
  warning?: string;
  metadata?: Record<string, string>;
  external?: Record<string, Record<string, Record<string, string>>>;
  /** With `explain`. */
  explanation?: Explanation;
  usage: { tokens: number };
}

export interface StorageState {
  readonly cookies: readonly {
    readonly name: string;
    readonly value: string;
    readonly domain: string;
    readonly path: string;
    /** Seconds since 1970; -1 for a cookie of the session. */
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

/** Why a page is answered as it is. */
export interface Explanation {
  version: string;
  kind?: string;
  kindConfidence?: number;
  /** How sure the choice of the content is; 0 to 1. */
  confidence: number;
  source: string;
  /** What was left out, and by which step. */
  removed: {
    step: string;
    rule: string;
    /** Finds the element in the document as it came. */
    selector: string;
    words: number;
    /** Its first words. */
    text: string;
    hidden?: true;
    probability?: number;
    threshold?: number;
    signs?: string[];
  }[];
  removedCount: number;
  /** The element behind each block of the Markdown. */
  blocks: { line: number; lines: number; selector: string; text: string }[];
  blockCount: number;
}

/** What a search found, and what its page says once it was read. */
export interface FoundPage extends Omit<Partial<Page>, 'title' | 'url' | 'description' | 'content' | 'usage'> {
  title: string;
  url: string;
  description: string;
  source?: string;
  date?: string;
  imageUrl?: string;
  imageWidth?: number;
  imageHeight?: number;
  siteLinks?: readonly { readonly title: string; readonly link: string; readonly snippet?: string | undefined }[];
  /** Markdown; empty for a page that was not read. */
  content: string;
  /** With `passages`. */
  passages?: { text: string; heading?: string; tokens: number }[];
  favicon?: string;
  usage: { tokens: number };
}

/** What a request went through and how long each step took, with `trace`. */
export interface Trace {
  readonly id: string;
  readonly duration_ms: number;
  readonly spans: readonly {
    readonly name: string;
    /** From the start of the request. */
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
  /** Of a search: that another provider than the one asked for answered. */
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
  /** Which input it is of. */
  readonly index: number;
  /** Numbers, base64 text, one of both for each type that was asked for, or weights of tokens. */
  readonly embedding: Vector | Readonly<Record<string, Vector | number>>;
  /** One for each token, with `return_multivector`. */
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
    /** Which document it is. */
    readonly index: number;
    readonly relevance_score: number;
    readonly document?: { readonly text?: string; readonly [field: string]: unknown };
  }[];
  readonly usage: { readonly total_tokens: number };
}

/** A model that is served. */
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
  /** Tokens. */
  readonly context_length: number;
  /** The length of its vectors, for models that make some. */
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
  /** One of `input` and `input_url`: lines, or the address of a file of them. */
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
  /** From 1. */
  readonly line: number;
  readonly response: null;
  readonly error: { readonly code: string; readonly message: string };
}

/** A document of a flow; in answers what is empty is null. */
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
  /** A pattern for the names of executors. */
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
  };
  readonly stores: Readonly<Record<string, 'ok' | 'away'>>;
}

export interface CrawlJob {
  readonly crawl_id: string;
  readonly status: 'pending' | 'processing' | 'completed' | 'failed' | 'cancelled' | 'expired';
  /** The first address that it starts at; all of them when there are several. */
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
  /** Links away from the start. */
  readonly depth: number;
}

/** What became of one address of a crawl. */
export type CrawlLine =
  | (CrawlLineBase & { readonly event: 'page'; readonly page: Page })
  | (CrawlLineBase & {
      readonly event: 'failed';
      /** What the site answered, if it did. */
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
      /** The address of the page that it is a duplicate of. */
      readonly of?: string;
      /** Where it led, out of the scope. */
      readonly to?: string;
    });

export type CrawlEvent =
  | { readonly event: 'page'; readonly data: Extract<CrawlLine, { event: 'page' }> }
  | { readonly event: 'failed'; readonly data: Extract<CrawlLine, { event: 'failed' }> }
  | { readonly event: 'skipped'; readonly data: Extract<CrawlLine, { event: 'skipped' }> }
  | { readonly event: 'progress' | 'done'; readonly data: CrawlJob };
