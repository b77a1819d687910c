/**
 * What runs models: one contract for the built-in model, ONNX files and servers elsewhere, so that everything above
 * (limits, batching, cutting, encoding) is written once. A backend runs one model. It is made asleep: `load` is called
 * before the first use and again after `unload`.
 */
import type { PictureRule } from '../media/picture-rule.ts';
import type { SoundRule } from '../media/sound.ts';

/**
 * An input made ready, prefix included. It is opaque to everybody but the backend that made it: token ids where the
 * tokenizer is here, the text where a server elsewhere has it.
 */
export interface Prepared {
  /** Tokens that will be run, special tokens and prefix included; an estimate where the tokenizer is elsewhere. */
  readonly tokens: number;
  /** The same before it was cut to fit; equal to `tokens` when nothing was cut. */
  readonly fullTokens: number;
  readonly payload: unknown;
}

/** How a model wants what is no text: made by a rule, or as the file that it was; unset where it takes none. */
export interface MediaNeeds {
  readonly image?: PictureRule | 'file' | undefined;
  readonly audio?: SoundRule | 'file' | undefined;
  readonly video?: 'file' | undefined;
}

export type ReadyMedium =
  /** As bytes: red, green, blue, row by row. */
  | { readonly medium: 'image'; readonly rgb: Uint8Array }
  | { readonly medium: 'audio'; readonly features: Float32Array }
  | { readonly medium: 'image' | 'audio' | 'video'; readonly file: Uint8Array; readonly mediaType: string };

export interface PrepareOptions {
  /** Longer inputs are cut at the end, special tokens kept; when unset they are left whole, for the caller to refuse. */
  readonly maxTokens?: number | undefined;
  /** The task as the request names it, for a server elsewhere that knows tasks; prefixes are in the texts already. */
  readonly task?: string | undefined;
  readonly signal: AbortSignal;
}

/** What one input gives. */
export interface Output {
  /** Row-major, rows x dimensions: raw, neither cut nor normalised unless the model itself ends so. */
  readonly values: Float32Array;
  /** 1 for a pooled vector; one a span for late chunking; one a token for multi-vector output. */
  readonly rows: number;
  /** Multi-vector output: the text of each token, as many as rows. */
  readonly pieces?: readonly string[] | undefined;
  /** Sparse models, instead of values. */
  readonly weights?: Readonly<Record<string, number>> | undefined;
  /** What the server elsewhere counted, when it did. */
  readonly tokens?: number | undefined;
}

export type OutputKind = 'pooled' | 'tokens' | 'sparse';

export interface EmbedOptions {
  readonly output: OutputKind;
  /** The size that will be cut to; a backend whose sizes are not cuts of one vector answers with that size itself. */
  readonly dimensions: number;
  readonly signal: AbortSignal;
}

export interface Embedder extends Backend {
  /** Of a whole vector. */
  readonly dimensions: number;
  /** Inputs in their order. Texts may be any string, lone surrogates and the empty one included. */
  prepare(texts: readonly string[], options: PrepareOptions): Promise<Prepared[]>;
  /**
   * The items of one document, to be run as one sequence and pooled item by item: joined with one space that belongs to
   * no item, the prefix once in front. Items are packed into windows of `maxTokens` at item borders when it is set; each
   * answer of `embed` then has one row an item. Undefined where the model cannot.
   */
  prepareSpans?(prefix: string, items: readonly string[], options: PrepareOptions): Promise<Prepared[]>;
  /** Undefined for a model that takes nothing but text. */
  media?(): Promise<MediaNeeds>;
  /** Media in their order, made as `media` says. */
  prepareMedia?(media: readonly ReadyMedium[], options: PrepareOptions): Promise<Prepared[]>;
  /** One output an input, in order. The vector of an input does not depend on its neighbours. */
  embed(batch: readonly Prepared[], options: EmbedOptions): Promise<Output[]>;
}

export interface Reranker extends Backend {
  /**
   * Query-document pairs made ready. A document that is too long becomes several windows, whose best score counts:
   * `documents[i]` lists the positions in `pairs` that belong to document i. A query takes at most half of the context.
   * `isBlind`: there is nothing in the query that the model knows.
   */
  prepare(
    query: string,
    documents: readonly string[],
    options: PrepareOptions,
  ): Promise<{ pairs: Prepared[]; documents: number[][]; isBlind?: boolean }>;
  /** One score a pair in [0, 1], in order; it depends on that pair alone. */
  score(batch: readonly Prepared[], signal: AbortSignal): Promise<Float32Array>;
}

/**
 * Failures leave a backend as problems: DownstreamServiceFailureError for what cannot work (a broken file, a refusal by a
 * server), ServiceNodeResourceDrainError with `retryAfter` for what may work later (a worker that died, a server that is
 * busy or away), ServiceTimeoutError for one that took too long.
 */
export interface Backend {
  /** What may take minutes and no memory, before `load`: files that come from elsewhere, a server that answers late. */
  fetch?(): Promise<void>;
  /** What its files are now: another text when they change. A load that failed is not tried at once on the same ones. */
  stamp?(): Promise<string>;
  /** Brings the model into memory; a second call waits for the first. */
  load(signal?: AbortSignal): Promise<void>;
  /** Gives the memory back; work in flight is finished first. */
  unload(): Promise<void>;
  readonly loaded: boolean;
  /** About how many bytes a loaded model takes. */
  readonly memoryBytes: number;
  /** Batches that may run at once: 1 for a local model. */
  readonly parallel: number;
  /** The most padded tokens worth putting into one batch (longest input times inputs), and the most inputs. */
  readonly batch: { readonly tokens: number; readonly inputs: number };
  /** Ends everything that was started. */
  close(): Promise<void>;
}
