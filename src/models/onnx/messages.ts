/** Messages between the server and a model process, and between that process and its inference thread. */
import type { OutputKind } from '../backend.ts';
import type { PictureRule } from '../media/picture-rule.ts';
import type { SoundRule } from '../media/sound.ts';
import type { ImagePrompt, Judge, Marks } from '../registry/catalogue.ts';

/** Maximum number of padded tokens in one run. About 2,000 keep the processor busy; more would only cost memory. */
export const RUN_TOKENS = 2_048;

/** Everything that a model process needs to know about its model. */
export interface ModelSpec {
  readonly does: 'embed' | 'rerank';
  /** Absolute path of the graph. The paths of the tokenizer's two files are absolute, too. */
  readonly graph: string;
  readonly tokenizer: string;
  readonly tokenizerConfig: string;
  readonly contextTokens: number;
  /** Expected vector length; undefined if unknown. */
  readonly dimensions?: number | undefined;
  readonly pooling: 'mean' | 'cls' | 'last' | 'none';
  readonly normalizes: boolean;
  /** Output kind that is tested after the model is loaded. */
  readonly output: RunKind;
  /** Number of threads for one run. */
  readonly threads: number;
  /** Whether inputs that would change each other's results run alone. */
  readonly batching: 'exact' | 'fast';
  readonly taskIds?: Readonly<Record<string, number>> | undefined;
  readonly marks?: Marks | undefined;
  readonly judge?: Judge | undefined;
  readonly querySuffix?: string | undefined;
  /** Texts are padded to this many tokens. */
  readonly textTokens?: number | undefined;
  readonly image?: ImageSpec | undefined;
  readonly audio?: AudioSpec | undefined;
}

/** The image graph, which may also be the text graph. */
export interface ImageSpec {
  readonly graph: string;
  readonly rule: PictureRule;
  readonly tokens: number;
  readonly prompt?: ImagePrompt | undefined;
}

export interface AudioSpec {
  readonly graph: string;
  readonly rule: SoundRule;
  readonly tokens: number;
}

/** One row of a batch. */
export interface Sequence {
  readonly ids: Int32Array;
  /** Segment of each token of a pair. Default: all 0. */
  readonly types?: Int32Array | undefined;
  /** Alternating start and end offsets of the parts that have their own vectors. */
  readonly spans?: Int32Array | undefined;
  /** Number of leading tokens that the model attends to. Default: all. */
  readonly attended?: number | undefined;
  /** Positions of the tokens whose vectors are returned for multi-vector output. Default: all. */
  readonly kept?: Int32Array | undefined;
  readonly task?: number | undefined;
}

export interface ReadySequence {
  readonly sequence: Sequence;
  readonly tokens: number;
  readonly fullTokens: number;
}

export interface ReadyPairs {
  readonly pairs: readonly ReadySequence[];
  readonly documents: number[][];
}

export interface SequenceOutput {
  readonly values: Float32Array;
  readonly rows: number;
  readonly pieces?: readonly string[] | undefined;
  readonly weights?: Readonly<Record<string, number>> | undefined;
}

/** Output of the inference thread, which does not know the vocabulary. */
export interface RawOutput {
  readonly values: Float32Array;
  readonly rows: number;
  /** Sparse output: the values are the weights of these ids. */
  readonly ids?: Int32Array | undefined;
  /** Multi-vector output: the position of each row's token. Default: all positions in order. */
  readonly positions?: Int32Array | undefined;
}

/** What the inference thread needs of the tokenizer. */
export interface TokenIds {
  readonly pad: number;
  /** The words whose logits give the score; see `Judge`. */
  readonly verdict?: { readonly yes: number; readonly no: number } | undefined;
  /** The prompt that accompanies an image. */
  readonly imagePrompt?: Int32Array | undefined;
}

/** The result per sequence: a score, or one of the output kinds. */
export type RunKind = OutputKind | 'score';

export interface RunRequest {
  readonly do: 'run';
  readonly batch: readonly Sequence[];
  readonly output: RunKind;
}

/** Images as RGB bytes, preprocessed by the model's rule. */
export interface ImageRequest {
  readonly do: 'images';
  readonly pictures: readonly Uint8Array[];
}

/** Audio features, computed by the model's rule. */
export interface SoundRequest {
  readonly do: 'sounds';
  readonly sounds: readonly Float32Array[];
}

export type ModelRequest =
  | { readonly do: 'load'; readonly spec: ModelSpec }
  | {
      readonly do: 'prepare';
      readonly texts: readonly string[];
      readonly maxTokens?: number | undefined;
      readonly task?: string | undefined;
    }
  | {
      readonly do: 'chunks';
      readonly prefix: string;
      readonly items: readonly string[];
      readonly maxTokens?: number | undefined;
      readonly task?: string | undefined;
    }
  | {
      readonly do: 'pairs';
      readonly query: string;
      readonly documents: readonly string[];
      readonly maxTokens?: number | undefined;
    }
  | { readonly do: 'tokenize'; readonly texts: readonly string[]; readonly special: boolean }
  | { readonly do: 'detokenize'; readonly lists: readonly (readonly number[])[]; readonly skipSpecial: boolean }
  | { readonly do: 'ids'; readonly pieces: readonly string[] }
  | RunRequest
  | ImageRequest
  | SoundRequest;

/** The properties that a model process reports after loading. */
export interface LoadedModel {
  /** Length of the vectors; 1 for a score. */
  readonly dimensions: number;
}

export interface RequestMessage {
  readonly id: number;
  readonly request: ModelRequest;
}

export type Reply =
  | { readonly id: number; readonly result: unknown }
  | { readonly id: number; readonly failure: string };
