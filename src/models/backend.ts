/**
 * The backend interface: one contract for the built-in model, ONNX files and remote servers, so that limits, batching,
 * truncation and encoding are written once. A backend runs one model. The model is not loaded at first: `load` is
 * called before the first use and again after `unload`.
 */
import type { PictureRule } from './media/picture-rule.ts';
import type { SoundRule } from './media/sound.ts';

/**
 * A prepared input, prompt included. Only the backend that created it may read the payload: token ids for a local
 * tokenizer, the text for a remote one.
 */
export interface Prepared {
  /**
   * Number of tokens that the model will process, including special tokens and the prompt. For remote tokenizers, an
   * estimate.
   */
  readonly tokens: number;
  /** Number of tokens before truncation; equals `tokens` if nothing was cut. */
  readonly fullTokens: number;
  readonly payload: unknown;
}

/**
 * The form in which a model expects each medium: preprocessed by a rule, or the original file. An unset medium is not
 * supported.
 */
export interface MediaFormats {
  readonly image?: PictureRule | 'file' | undefined;
  readonly audio?: SoundRule | 'file' | undefined;
  readonly video?: 'file' | undefined;
}

export type ReadyMedium =
  /** RGB bytes, row by row. */
  | { readonly medium: 'image'; readonly rgb: Uint8Array }
  | { readonly medium: 'audio'; readonly features: Float32Array }
  | { readonly medium: 'image' | 'audio' | 'video'; readonly file: Uint8Array; readonly mediaType: string };

export interface PrepareOptions {
  /**
   * Longer inputs are truncated at the end, keeping special tokens. If unset, inputs are not truncated, and the caller
   * refuses long ones.
   */
  readonly maxTokens?: number | undefined;
  /** The task of the request, for remote servers that support tasks. Prompts are already in the texts. */
  readonly task?: string | undefined;
  readonly signal: AbortSignal;
}

/** The result of one input. */
export interface Output {
  /** Row-major, rows x dimensions; not truncated, and normalized only if the model does so itself. */
  readonly values: Float32Array;
  /** 1 for a pooled vector, one per chunk for late chunking, one per token for multi-vector output. */
  readonly rows: number;
  /** Multi-vector output: the text of each token, one per row. */
  readonly pieces?: readonly string[] | undefined;
  /** Output of sparse models, instead of `values`. */
  readonly weights?: Readonly<Record<string, number>> | undefined;
  /** Token count reported by the remote server, if any. */
  readonly tokens?: number | undefined;
}

export type OutputKind = 'pooled' | 'tokens' | 'sparse';

export interface EmbedOptions {
  readonly output: OutputKind;
  /** Requested vector length. A backend that cannot shorten a vector by truncation must return this length itself. */
  readonly dimensions: number;
  readonly signal: AbortSignal;
}

/** A token of a text. */
export interface Token {
  readonly id: number;
  /** Its text in the vocabulary. */
  readonly text: string;
  readonly isSpecial: boolean;
}

/** Converts between texts and the ids of a model's vocabulary. */
export interface TokenCodec {
  /** Returns the tokens of each text, without a prompt. `special` adds special tokens such as `[CLS]`. */
  encode(texts: readonly string[], options: { special: boolean; signal: AbortSignal }): Promise<Token[][]>;
  /** Returns the text of each list; `undefined` for a list with an id outside the vocabulary. */
  decode(
    lists: readonly (readonly number[])[],
    options: { skipSpecial: boolean; signal: AbortSignal },
  ): Promise<(string | undefined)[]>;
  /** Returns the id of each piece of the vocabulary. */
  idsOf(pieces: readonly string[], signal: AbortSignal): Promise<(number | undefined)[]>;
}

export interface Embedder extends Backend {
  /** Length of a full vector. */
  readonly dimensions: number;
  /** Prepares inputs in order. Texts may be any string, including empty ones and lone surrogates. */
  prepare(texts: readonly string[], options: PrepareOptions): Promise<Prepared[]>;
  /**
   * Prepares the chunks of one document. The chunks run as one sequence and are pooled one by one. They are joined by
   * spaces that belong to no chunk, and the prompt precedes the whole sequence once. With `maxTokens`, chunks are
   * packed into windows at chunk boundaries. `embed` returns one row per chunk. Undefined if the model does not support
   * late chunking.
   */
  prepareChunks?(prefix: string, items: readonly string[], options: PrepareOptions): Promise<Prepared[]>;
  /** Undefined for a text-only model. */
  media?(): Promise<MediaFormats>;
  /** Prepares media in order. Each item must be in the form that `media` specifies. */
  prepareMedia?(media: readonly ReadyMedium[], options: PrepareOptions): Promise<Prepared[]>;
  /** Returns one output per input, in order. Each output is independent of the other inputs in the batch. */
  embed(batch: readonly Prepared[], options: EmbedOptions): Promise<Output[]>;
}

export interface Reranker extends Backend {
  /**
   * Prepares query-document pairs. A document that is too long is split into several windows, and its score is the best
   * score of its windows: `documents[i]` lists the positions in `pairs` of document i. A query uses at most half of the
   * context. `isBlind` means that the model recognizes no part of the query.
   */
  prepare(
    query: string,
    documents: readonly string[],
    options: PrepareOptions,
  ): Promise<{ pairs: Prepared[]; documents: number[][]; isBlind?: boolean }>;
  /** Returns one score per pair, between 0 and 1, in order. Each score is independent of the other pairs. */
  score(batch: readonly Prepared[], signal: AbortSignal): Promise<Float32Array>;
}

/**
 * Backends throw problems: DownstreamServiceFailureError for permanent failures (a broken file, a rejection by the
 * server), ServiceNodeResourceDrainError with `retryAfter` for temporary ones (a worker that died, a server that is
 * busy or unreachable), and ServiceTimeoutError for timeouts.
 */
export interface Backend {
  /** Slow preparation before `load` that uses no memory, such as downloading files or waiting for a server. */
  fetch?(): Promise<void>;
  /** Fingerprint of the files. After a failed load, the same fingerprint is not retried immediately. */
  stamp?(): Promise<string>;
  /** Undefined if the vocabulary is not known here, because a remote server tokenizes. */
  readonly tokens?: TokenCodec | undefined;
  /** Loads the model into memory. Concurrent calls share one load. */
  load(signal?: AbortSignal): Promise<void>;
  /** Frees the memory once running work has finished. */
  unload(): Promise<void>;
  readonly loaded: boolean;
  /** Approximate memory use when loaded, in bytes. */
  readonly memoryBytes: number;
  /** Number of concurrent batches; 1 for a local model. */
  readonly parallel: number;
  /** Recommended maximum size of one batch: padded tokens (longest input times number of inputs) and inputs. */
  readonly batch: { readonly tokens: number; readonly inputs: number };
  /** Stops all processes and work. */
  close(): Promise<void>;
}
