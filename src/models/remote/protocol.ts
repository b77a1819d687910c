/**
 * What the remote backend must know of a kind of server: a file of facts and a pair of functions for each thing it does.
 * The functions are pure; sending, retrying and checking are written once, for all.
 */

import type { OutputKind } from '../backends/backend.ts';
import type { EmbeddingKind } from '../registry/catalogue.ts';

export interface Ask {
  readonly path: string;
  /** JSON to be sent; without it the request is a GET. */
  readonly body?: unknown;
}

export interface Reply {
  readonly body: unknown;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
}

export type RemoteMedium = 'image' | 'audio' | 'video';

export interface EmbedAsk {
  readonly model: string;
  readonly kind: EmbeddingKind;
  /** None where there are media. */
  readonly texts: readonly string[];
  /** All of one medium, as data URIs. */
  readonly media?: { readonly medium: RemoteMedium; readonly uris: readonly string[] } | undefined;
  readonly task?: string | undefined;
  /** Whether the server cuts texts that are too long; it refuses them otherwise. */
  readonly truncate: boolean;
  /** The texts are one document, pooled text by text. */
  readonly lateChunking: boolean;
  readonly output: OutputKind;
  /** Set when the server shall cut the vectors. */
  readonly dimensions?: number | undefined;
  /** Numbers as base64 of little-endian float32. */
  readonly base64: boolean;
}

/** One input's answer, unchecked. `index` is the input's position, where the protocol tells it. */
export interface EmbedRow {
  readonly index?: unknown;
  readonly value: unknown;
  readonly pieces?: unknown;
}

export interface RerankAsk {
  readonly model: string;
  readonly query: string;
  readonly documents: readonly string[];
  /** Of the model. */
  readonly contextTokens: number;
  /** Pairs are cut to so many tokens where the server can; unset, it refuses what is too long. */
  readonly maxTokens?: number | undefined;
}

export interface RerankRow {
  readonly index: unknown;
  readonly score: unknown;
}

export interface EmbedAnswer {
  readonly rows: readonly EmbedRow[];
  /** Tokens of the whole request, when the server told. */
  readonly tokens?: number | undefined;
}

/** The most of one request: what the server is known to take, or has told. */
export interface RequestLimits {
  readonly inputs: number;
  /** Of all texts together. */
  readonly tokens: number;
}

/** How paths are joined to the address that the operator gave. */
export type AddressStyle =
  /** A version at its end (`/v1`, `/v2`, `/api`) is dropped: the paths have their own. */
  | 'root'
  /** As it is; `/v1` when it has no path. */
  | 'versioned'
  | 'given';

export interface Protocol {
  readonly address: AddressStyle;
  readonly limits: RequestLimits;
  /** Requests at once. */
  readonly parallel: number;
  /** Whether it cuts texts at their end when asked to. */
  readonly truncates: boolean;
  /** Whether it knows what a task is, so that it must be told. */
  readonly tasks: boolean;
  readonly embed?: {
    readonly base64: boolean;
    /** Whether it cuts what is too long without a word, so that the estimate has to refuse it. */
    readonly silent: boolean;
    readonly outputs: readonly OutputKind[];
    readonly lateChunking: boolean;
    /** What it takes beside texts. */
    readonly media?: readonly RemoteMedium[];
    request(ask: EmbedAsk): Ask;
    parse(reply: Reply): EmbedAnswer;
  };
  readonly rerank?: {
    /** As for embeddings. */
    readonly silent: boolean;
    /** Whether it makes windows of long documents itself. */
    readonly windows: boolean;
    /** Whether scores may lie a little outside 0 to 1: cosines of listwise models. */
    readonly cosines: boolean;
    request(ask: RerankAsk): Ask;
    parse(reply: Reply): readonly RerankRow[];
  };
  /** Exact counts of tokens, special tokens included. */
  readonly count?: {
    /** Texts of one request. */
    readonly inputs: number;
    request(model: string, texts: readonly string[]): Ask;
    parse(reply: Reply): readonly unknown[];
  };
  /** What the server tells of itself, asked once when the model is loaded. */
  readonly info?: {
    readonly request: Ask;
    parse(reply: Reply): Partial<RequestLimits>;
  };
}
