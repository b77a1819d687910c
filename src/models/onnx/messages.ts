/** What crosses between the server and the process of a model, and between that process and its inference thread. */
import type { OutputKind } from '../backends/backend.ts';
import type { PictureRule } from '../media/picture-rule.ts';
import type { SoundRule } from '../media/sound.ts';

/** A run of some 2,000 padded tokens keeps the processor busy; beyond that only memory grows. */
export const RUN_TOKENS = 2_048;

/** All that a process needs to know of the model it runs. */
export interface ModelSpec {
  readonly does: 'embed' | 'rerank';
  /** The graph, an absolute path; the tokenizer's two files likewise. */
  readonly graph: string;
  readonly tokenizer: string;
  readonly tokenizerConfig: string;
  readonly contextTokens: number;
  /** Of the vectors that it must answer with; undefined where it is not known before. */
  readonly dimensions?: number | undefined;
  readonly pooling: 'mean' | 'cls' | 'last' | 'none';
  readonly normalizes: boolean;
  /** What it is asked for mostly: tried when it is loaded. */
  readonly output: RunKind;
  /** Threads of one run. */
  readonly threads: number;
  readonly taskIds?: Readonly<Record<string, number>> | undefined;
  readonly marks?: Marks | undefined;
  /** Texts are filled up to so many tokens. */
  readonly textTokens?: number | undefined;
  readonly image?: ImageSpec | undefined;
  readonly audio?: AudioSpec | undefined;
}

/** The graph that sees, which may be that for texts. */
export interface ImageSpec {
  readonly graph: string;
  readonly rule: PictureRule;
  readonly tokens: number;
}

export interface AudioSpec {
  readonly graph: string;
  readonly rule: SoundRule;
  readonly tokens: number;
}

/** ColBERT's conventions: a marker after the first token tells queries from documents, queries are filled up with masks. */
export interface Marks {
  readonly query: string;
  readonly document: string;
  readonly mask: string;
  readonly queryTokens: number;
}

/** One row of a batch. */
export interface Sequence {
  readonly ids: Int32Array;
  /** Segments of a pair, one number a token; all 0 when unset. */
  readonly types?: Int32Array | undefined;
  /** Start and end of each part that has a vector of its own, one after the other. */
  readonly spans?: Int32Array | undefined;
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

/** The same as the inference thread gives it, which knows no vocabulary. */
export interface RawOutput {
  readonly values: Float32Array;
  readonly rows: number;
  /** Sparse: the values are the weights of these ids. */
  readonly ids?: Int32Array | undefined;
}

/** How a sequence of a batch is answered: with its score, or one of the kinds of output. */
export type RunKind = OutputKind | 'score';

export interface RunAsk {
  readonly do: 'run';
  readonly batch: readonly Sequence[];
  readonly output: RunKind;
}

/** Pictures as bytes by the rule of the model. */
export interface SeeAsk {
  readonly do: 'see';
  readonly pictures: readonly Uint8Array[];
}

/** Features of sound by the rule of the model. */
export interface HearAsk {
  readonly do: 'hear';
  readonly sounds: readonly Float32Array[];
}

export type Ask =
  | { readonly do: 'load'; readonly spec: ModelSpec }
  | {
      readonly do: 'prepare';
      readonly texts: readonly string[];
      readonly maxTokens?: number | undefined;
      readonly task?: string | undefined;
    }
  | {
      readonly do: 'spans';
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
  | RunAsk
  | SeeAsk
  | HearAsk;

/** What a loaded model says of itself. */
export interface LoadedModel {
  /** Of the vectors that it answers with; 1 for a score. */
  readonly dimensions: number;
}

export interface Letter {
  readonly id: number;
  readonly ask: Ask;
}

export type Reply =
  | { readonly id: number; readonly result: unknown }
  | { readonly id: number; readonly failure: string };
