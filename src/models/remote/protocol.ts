/**
 * Interface of a server protocol: its properties, and a pair of pure functions per operation that build the request and
 * parse the response. Sending, retries and validation are shared by all protocols.
 */

import type { OutputKind } from '../backend.ts';
import type { EmbeddingKind } from '../registry/catalogue.ts';

export interface ProtocolRequest {
  readonly path: string;
  /** JSON body. If unset, the request is a GET. */
  readonly body?: unknown;
}

export interface Reply {
  readonly body: unknown;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
}

export type RemoteMedium = 'image' | 'audio' | 'video';

export interface RemoteEmbedRequest {
  readonly model: string;
  readonly kind: EmbeddingKind;
  /** Empty if the request contains media. */
  readonly texts: readonly string[];
  /** Media as data URIs, all of the same medium. */
  readonly media?: { readonly medium: RemoteMedium; readonly uris: readonly string[] } | undefined;
  readonly task?: string | undefined;
  /** Whether the server truncates texts that are too long. If false, it rejects them. */
  readonly truncate: boolean;
  /** The texts are chunks of one document, each with its own vector. */
  readonly lateChunking: boolean;
  readonly output: OutputKind;
  /** Set if the server is to shorten the vectors. */
  readonly dimensions?: number | undefined;
  /** Whether numbers are encoded as base64 of little-endian float32. */
  readonly base64: boolean;
}

/** Unvalidated result of one input. `index` is the position of the input, if the protocol reports it. */
export interface EmbedRow {
  readonly index?: unknown;
  readonly value: unknown;
  readonly pieces?: unknown;
}

export interface RemoteRerankRequest {
  readonly model: string;
  readonly query: string;
  readonly documents: readonly string[];
  /** Context size of the model, in tokens. */
  readonly contextTokens: number;
  /** Limit to which the server truncates pairs, if it can. If unset, long pairs are rejected. */
  readonly maxTokens?: number | undefined;
}

export interface RerankRow {
  readonly index: unknown;
  readonly score: unknown;
}

export interface EmbedAnswer {
  readonly rows: readonly EmbedRow[];
  /** Token count of the whole request, if the server reports it. */
  readonly tokens?: number | undefined;
}

/** Maximum size of one request, by default or as reported by the server. */
export interface RequestLimits {
  readonly inputs: number;
  /** Maximum number of tokens of all texts together. */
  readonly tokens: number;
}

/** How paths are appended to the operator's URL. */
export type UrlStyle =
  /** A version at the end of the URL (`/v1`, `/v2`, `/api`) is removed, because the paths contain their own version. */
  | 'root'
  /** The URL is used unchanged, except that `/v1` is appended if it has no path. */
  | 'versioned'
  | 'given';

export interface Protocol {
  readonly address: UrlStyle;
  readonly limits: RequestLimits;
  /** Number of concurrent requests. */
  readonly parallel: number;
  /** Whether the server can truncate texts at their end. */
  readonly truncates: boolean;
  /** Whether the server supports tasks, so that the task must be sent. */
  readonly tasks: boolean;
  readonly embed?: {
    readonly base64: boolean;
    /**
     * Whether the server truncates long texts silently. If so, texts estimated as too long must be rejected before
     * sending.
     */
    readonly silent: boolean;
    readonly outputs: readonly OutputKind[];
    readonly lateChunking: boolean;
    /** Supported media. */
    readonly media?: readonly RemoteMedium[];
    request(ask: RemoteEmbedRequest): ProtocolRequest;
    parse(reply: Reply): EmbedAnswer;
  };
  readonly rerank?: {
    /** The same as for embeddings. */
    readonly silent: boolean;
    /** Whether the server splits long documents into windows itself. */
    readonly windows: boolean;
    /** Whether scores are cosines (listwise models), which may be slightly below 0 or above 1. */
    readonly cosines: boolean;
    request(ask: RemoteRerankRequest): ProtocolRequest;
    parse(reply: Reply): readonly RerankRow[];
  };
  /** Requests exact token counts, including special tokens. */
  readonly count?: {
    /** Maximum number of texts per request. */
    readonly inputs: number;
    request(model: string, texts: readonly string[]): ProtocolRequest;
    parse(reply: Reply): readonly unknown[];
  };
  /** Server information, requested once when the model is loaded. */
  readonly info?: {
    readonly request: ProtocolRequest;
    parse(reply: Reply): Partial<RequestLimits>;
  };
}
