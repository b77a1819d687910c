/**
 * Interface of a server protocol: its properties, and a pair of pure functions per operation that build the request and
 * parse the answer. Sending, retries and validation are shared by all protocols.
 */

import type { OutputKind } from '../backends/backend.ts';
import type { EmbeddingKind } from '../registry/catalogue.ts';

export interface ProtocolRequest {
  readonly path: string;
  /** JSON body; without one the request is a GET. */
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
  /** Empty if there are media. */
  readonly texts: readonly string[];
  /** All of one medium, as data URIs. */
  readonly media?: { readonly medium: RemoteMedium; readonly uris: readonly string[] } | undefined;
  readonly task?: string | undefined;
  /** Whether the server cuts texts that are too long; it refuses them otherwise. */
  readonly truncate: boolean;
  /** The texts are chunks of one document, each with its own vector. */
  readonly lateChunking: boolean;
  readonly output: OutputKind;
  /** Set if the server should shorten the vectors. */
  readonly dimensions?: number | undefined;
  /** Whether numbers are encoded as base64 of little-endian float32. */
  readonly base64: boolean;
}

/** Unchecked result of one input. `index` is the input's position, if the protocol reports it. */
export interface EmbedRow {
  readonly index?: unknown;
  readonly value: unknown;
  readonly pieces?: unknown;
}

export interface RemoteRerankRequest {
  readonly model: string;
  readonly query: string;
  readonly documents: readonly string[];
  /** Context of the model. */
  readonly contextTokens: number;
  /** Limit to which the server truncates pairs, if it can; unset: long pairs are refused. */
  readonly maxTokens?: number | undefined;
}

export interface RerankRow {
  readonly index: unknown;
  readonly score: unknown;
}

export interface EmbedAnswer {
  readonly rows: readonly EmbedRow[];
  /** Tokens of the whole request, if the server reports them. */
  readonly tokens?: number | undefined;
}

/** Maximum size of one request, by default or as the server reports it. */
export interface RequestLimits {
  readonly inputs: number;
  /** Total of all texts. */
  readonly tokens: number;
}

/** How paths are appended to the operator's URL. */
export type UrlStyle =
  /** A version at the end of the URL (`/v1`, `/v2`, `/api`) is dropped, because the paths contain their own. */
  | 'root'
  /** The URL is used as it is; `/v1` is added if it has no path. */
  | 'versioned'
  | 'given';

export interface Protocol {
  readonly address: UrlStyle;
  readonly limits: RequestLimits;
  /** Number of concurrent requests. */
  readonly parallel: number;
  /** Whether it can truncate texts at their end. */
  readonly truncates: boolean;
  /** Whether it supports tasks, so that the task must be sent. */
  readonly tasks: boolean;
  readonly embed?: {
    readonly base64: boolean;
    /** Whether it truncates long texts silently, so that they must be refused by the estimate. */
    readonly silent: boolean;
    readonly outputs: readonly OutputKind[];
    readonly lateChunking: boolean;
    /** Supported media. */
    readonly media?: readonly RemoteMedium[];
    request(ask: RemoteEmbedRequest): ProtocolRequest;
    parse(reply: Reply): EmbedAnswer;
  };
  readonly rerank?: {
    /** As for embeddings. */
    readonly silent: boolean;
    /** Whether it splits long documents into windows itself. */
    readonly windows: boolean;
    /** Whether scores are cosines (listwise models), which may be slightly outside 0 to 1. */
    readonly cosines: boolean;
    request(ask: RemoteRerankRequest): ProtocolRequest;
    parse(reply: Reply): readonly RerankRow[];
  };
  /** Exact token counts, including special tokens. */
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
