/** Converts text into the ids of a model's vocabulary. Accepts any string, including empty ones and lone surrogates. */
export interface Tokenizer {
  /** Returns the ids of the pieces. Special tokens are added only if `special` is set. */
  encode(text: string, options?: { readonly special?: boolean | undefined }): Int32Array;
  /** Returns the number of ids that `encode` would return. */
  count(text: string, options?: { readonly special?: boolean | undefined }): number;
  /** Encodes a pair for a cross-encoder, with special tokens. Either text may be empty. */
  encodePair(first: string, second: string): EncodedPair;
  /**
   * Returns the ids of each item, encoded as part of the text that joins all items with single spaces. No special
   * tokens are added.
   */
  encodeItems(items: readonly string[]): Int32Array[];
  /** Returns the vocabulary text of each id. Unknown ids give the unknown piece. */
  pieces(ids: Iterable<number>): string[];
  idOf(piece: string): number | undefined;
  /** Special tokens around a single text, and around and between the texts of a pair. */
  readonly frame: Frame;
}

/** A tokenizer whose ids can be converted back into text. */
export interface ReversibleTokenizer extends Tokenizer {
  /** Returns the text of ids; `undefined` if an id is not in the vocabulary. */
  decode(ids: readonly number[], options: { readonly skipSpecial: boolean }): string | undefined;
  isSpecial(id: number): boolean;
}

export interface EncodedPair {
  readonly ids: Int32Array;
  readonly typeIds: Int32Array;
}

export interface Frame {
  readonly before: readonly number[];
  readonly after: readonly number[];
  readonly pair: {
    readonly before: readonly number[];
    readonly between: readonly number[];
    readonly after: readonly number[];
    /** Token types (segments): before, first text, between, second text, after. */
    readonly types: {
      readonly before: readonly number[];
      readonly first: number;
      readonly between: readonly number[];
      readonly second: number;
      readonly after: readonly number[];
    };
  };
}

/** Frame without special tokens. */
export const NO_FRAME: Frame = {
  before: [],
  after: [],
  pair: {
    before: [],
    between: [],
    after: [],
    types: { before: [], first: 0, between: [], second: 0, after: [] },
  },
};

export const frameSingle = ({ before, after }: Frame, ids: Int32Array): Int32Array =>
  joined([before, ids, after], before.length + ids.length + after.length);

/** Joins the first encoded text and the second (or a window of it) with special tokens. */
export function framePair({ pair }: Frame, first: Int32Array, second: Int32Array): EncodedPair {
  const { before, between, after, types } = pair;
  const length = before.length + first.length + between.length + second.length + after.length;
  const typeIds = new Int32Array(length);
  let at = 0;
  const type = (values: readonly number[]) => {
    typeIds.set(values, at);
    at += values.length;
  };
  const same = (value: number, count: number) => {
    typeIds.fill(value, at, at + count);
    at += count;
  };
  type(types.before);
  same(types.first, first.length);
  type(types.between);
  same(types.second, second.length);
  type(types.after);
  return { ids: joined([before, first, between, second, after], length), typeIds };
}

function joined(parts: readonly ArrayLike<number>[], length: number): Int32Array {
  const all = new Int32Array(length);
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}

/**
 * Limits runs of combining marks to 128. Unicode normalization sorts the marks of a letter in quadratic time: 200,000
 * marks take 20 seconds. (UAX #15 considers text with runs of more than 30 unsafe for streams.)
 */
export const limitCombiningMarks = (text: string): string => text.replace(MARK_FLOOD, '$1');

const MARK_FLOOD = /(\p{M}{128})\p{M}+/gu;

/** Replaces lone surrogates with U+FFFD. */
export const wellFormed = (text: string): string => text.replace(/\p{Cs}/gu, '\uFFFD');
