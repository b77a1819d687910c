/** Row types of the model catalogue. It has one row per known model, whether or not the model is on this machine. */
import type { PictureRule } from '../media/picture-rule.ts';
import type { SoundRule } from '../media/sound.ts';

/**
 * The kind determines which fields a request may have and what the response contains (docs/reference/wire/models.md,
 * Model kinds).
 */
export const EMBEDDING_KINDS = [
  'text-v2',
  'text-v3',
  'omni-v4',
  'text-v5',
  'omni-v5',
  'code',
  'clip-v1',
  'clip-v2',
  'colbert',
  'sparse',
  'm3',
] as const;
export type EmbeddingKind = (typeof EMBEDDING_KINDS)[number];

/** The kinds of media that an input can contain. */
export type Medium = 'image' | 'pdf' | 'audio' | 'video';

/** A separate graph for images, or the text graph if it processes both. */
export interface ImageTower {
  readonly file: string;
  readonly quantized?: string | undefined;
  /** Preprocessing rule. If unset, it is taken from the model's `preprocessor_config.json`. */
  readonly rule?: PictureRule | undefined;
  /** Number of tokens counted for an image, which is the number of its patches. */
  readonly tokens: number;
  /** For a graph that reads an image together with a text: one token per patch, and the text that follows. */
  readonly prompt?: ImagePrompt | undefined;
}

export interface ImagePrompt {
  /** The special token that stands for one patch, such as `<image>`. */
  readonly patch: string;
  readonly patches: number;
  /** The text after the patches. Special tokens in it are recognized. */
  readonly text: string;
}

/**
 * ColBERT's conventions (Khattab and Zaharia 2020): a marker after the first token distinguishes queries from
 * documents, and queries are padded with mask tokens.
 */
export interface Marks {
  readonly query: string;
  readonly document: string;
  readonly mask: string;
  readonly queryTokens: number;
  /** Whether other tokens attend to the mask tokens. Default: false. */
  readonly attendsToMasks?: boolean | undefined;
  /** Whether the vectors of a document's punctuation marks are left out. Default: false. */
  readonly dropsPunctuation?: boolean | undefined;
}

/**
 * The prompt of a reranker that is a language model, and the two words whose logits at its last token give the score.
 * `before`, the query with what surrounds it, the document with what precedes it, and `after` are tokenized separately.
 */
export interface Judge {
  readonly before: string;
  readonly query: string;
  readonly between: string;
  readonly document: string;
  readonly after: string;
  readonly yes: string;
  readonly no: string;
  /** Subtracted from the difference of the logits before the sigmoid. Default: 0. */
  readonly midpoint?: number | undefined;
}

/** A separate graph for audio. */
export interface AudioTower {
  readonly file: string;
  readonly quantized?: string | undefined;
  readonly rule: SoundRule;
  /** Number of tokens counted for one window of audio. */
  readonly tokens: number;
}

export interface Towers {
  readonly image?: ImageTower | undefined;
  readonly audio?: AudioTower | undefined;
}

interface CommonRow {
  /** Short id used in requests. */
  readonly id: string;
  /** Repository on the hub, `org/name`, which is also accepted as an id. Empty if the model is not on the hub. */
  readonly hub: string;
  readonly name: string;
  readonly description: string;
  /** Creation time, in Unix seconds. */
  readonly created: number;
  readonly contextTokens: number;
  /** BCP 47 tags, or `multi`. */
  readonly languages: readonly string[];
  /** SPDX id, or the owner's name for the licence. */
  readonly licence: string;
  /**
   * Where the facts of the row come from, which were taken from documentation only: none of the model's real weights were
   * run. The code that runs it is tested with random weights in a graph of the same architecture. Default: the model card
   * and the configuration.
   */
  readonly documentedIn?: string | undefined;
  readonly runs: Runs;
}

/** Where the model runs. */
export type Runs =
  | { readonly on: 'static' }
  | {
      readonly on: 'onnx';
      /** Repository that contains the files, if it is not `hub`. */
      readonly repository?: string | undefined;
      /** Path of the graph within the repository or folder. */
      readonly file: string;
      readonly quantized?: string | undefined;
      /** Commit of the repository. Default: `main`. */
      readonly revision?: string | undefined;
      /** No repository is known to publish the graph: an operator exports it into a folder. */
      readonly unpublished?: true | undefined;
      /** A folder provided by the operator, used instead of the hub. */
      readonly folder?: string | undefined;
      readonly bytes?: number | undefined;
      readonly sha256?: Readonly<Record<string, string>> | undefined;
      /** External weight files by graph path. */
      readonly data?: Readonly<Record<string, readonly string[]>> | undefined;
      readonly towers?: Towers | undefined;
      /** Texts are padded to this many tokens. Set for models that were trained with padding. */
      readonly textTokens?: number | undefined;
      /** Adapter number by task, for graphs that select an adapter. `default` is used for any other task. */
      readonly taskIds?: Readonly<Record<string, number>> | undefined;
      /** For ColBERT models. */
      readonly marks?: Marks | undefined;
      /** For rerankers that are language models. */
      readonly judge?: Judge | undefined;
      /** Text that is appended to queries. Special tokens in it are recognized. */
      readonly querySuffix?: string | undefined;
    }
  | {
      readonly on: 'remote';
      readonly protocol: 'openai' | 'tei' | 'infinity' | 'vllm' | 'ollama' | 'cohere' | 'lectern';
      readonly url: string;
      /** Model name on the server. */
      readonly model: string;
      readonly key?: string | undefined;
    };

export interface EmbeddingRow extends CommonRow {
  readonly does: 'embed';
  readonly kind: EmbeddingKind;
  readonly dimensions: number;
  /** Lengths to which vectors can be truncated; empty if the model was not trained for truncation. */
  readonly matryoshka: readonly number[];
  readonly pooling: 'mean' | 'cls' | 'last' | 'none';
  /** Whether the model's own output is normalized. */
  readonly normalizes: boolean;
  /**
   * Prompt per task, or per part of a task after the dot: `query`, `passage`, `text-matching`. `default` is used if no
   * task is specified.
   */
  readonly prefixes: Readonly<Record<string, string>>;
  /** How PDF pages are embedded: as images (the default) or as text. */
  readonly pdf?: 'pictures' | 'text' | undefined;
  /**
   * Name of the vector space of each medium, for models whose vectors are not all comparable. Media without a name
   * share one space.
   */
  readonly spaces?: Readonly<Partial<Record<'text' | 'image' | 'audio', string>>> | undefined;
}

export interface RerankRow extends CommonRow {
  readonly does: 'rerank';
}

export type ModelRow = EmbeddingRow | RerankRow;
