/** THE table of models: one row a model that is known, whether it is on this machine or not. */
import type { PictureRule } from '../media/picture-rule.ts';
import type { SoundRule } from '../media/sound.ts';

/** Which fields a request may have and what its answer looks like (contract, 5.1). */
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
] as const;
export type EmbeddingKind = (typeof EMBEDDING_KINDS)[number];

/** What an input can hold that is not text. */
export type Medium = 'image' | 'pdf' | 'audio' | 'video';

/** A graph beside that for texts, which sees pictures; one graph may do both. */
export interface ImageTower {
  readonly file: string;
  readonly quantized?: string | undefined;
  /** How its pictures are made; read from the model's `preprocessor_config.json` when unset. */
  readonly rule?: PictureRule | undefined;
  /** Patches that it cuts a picture into: what a picture counts as. */
  readonly tokens: number;
}

/** A graph beside that for texts, which hears. */
export interface AudioTower {
  readonly file: string;
  readonly quantized?: string | undefined;
  readonly rule: SoundRule;
  /** What a window of sound counts as. */
  readonly tokens: number;
}

export interface Towers {
  readonly image?: ImageTower | undefined;
  readonly audio?: AudioTower | undefined;
}

interface CommonRow {
  /** The short id that requests name. */
  readonly id: string;
  /** Repository on the hub, `org/name`; it may be asked for by that too. Empty for what is not there. */
  readonly hub: string;
  readonly name: string;
  readonly description: string;
  /** Unix seconds. */
  readonly created: number;
  readonly contextTokens: number;
  /** BCP 47, or `multi`. */
  readonly languages: readonly string[];
  /** SPDX, or what the owner calls it. */
  readonly licence: string;
  readonly runs: Runs;
}

/** Where the model runs. */
export type Runs =
  | { readonly on: 'static' }
  | {
      readonly on: 'onnx';
      /** The repository that has the files, where it is another one than `hub`. */
      readonly repository?: string | undefined;
      /** The graph in the repository or folder, and others under it by name of precision. */
      readonly file: string;
      readonly quantized?: string | undefined;
      /** A commit of the repository; `main` when unset. */
      readonly revision?: string | undefined;
      /** A folder of the operator's instead of the hub. */
      readonly folder?: string | undefined;
      readonly bytes?: number | undefined;
      readonly sha256?: Readonly<Record<string, string>> | undefined;
      /** Files of weights that the graph names, beside it; those of the quantized graph are under its own name. */
      readonly data?: Readonly<Record<string, readonly string[]>> | undefined;
      readonly towers?: Towers | undefined;
      /** Texts are filled up to so many tokens, for models that were trained so. */
      readonly textTokens?: number | undefined;
      /** Graphs that choose an adapter by a number: task to number, `default` for any other. */
      readonly taskIds?: Readonly<Record<string, number>> | undefined;
      /** ColBERT: the pieces that mark a query and a document, and what a query is filled up with to so many tokens. */
      readonly marks?:
        | { readonly query: string; readonly document: string; readonly mask: string; readonly queryTokens: number }
        | undefined;
    }
  | {
      readonly on: 'remote';
      readonly protocol: 'openai' | 'tei' | 'infinity' | 'vllm' | 'ollama' | 'cohere' | 'lectern';
      readonly url: string;
      /** Its name there. */
      readonly model: string;
      readonly key?: string | undefined;
    };

export interface EmbeddingRow extends CommonRow {
  readonly does: 'embed';
  readonly kind: EmbeddingKind;
  readonly dimensions: number;
  /** Sizes that it was trained to be cut to; empty when it was not. */
  readonly matryoshka: readonly number[];
  readonly pooling: 'mean' | 'cls' | 'last' | 'none';
  /** Whether its own head ends with unit vectors. */
  readonly normalizes: boolean;
  /** Text put in front, by the task or the part of it after the dot: `query`, `passage`, `text-matching` ...; `default` when no task is given. */
  readonly prefixes: Readonly<Record<string, string>>;
  /** How pages of PDFs are taken: as pictures when unset, or as texts. */
  readonly pdf?: 'pictures' | 'text' | undefined;
  /**
   * Names of spaces by what is put into them, for a model whose vectors cannot all be compared. What has no name is in one
   * space with all else that has none.
   */
  readonly spaces?: Readonly<Partial<Record<'text' | 'image' | 'audio', string>>> | undefined;
}

export interface RerankRow extends CommonRow {
  readonly does: 'rerank';
}

export type ModelRow = EmbeddingRow | RerankRow;
