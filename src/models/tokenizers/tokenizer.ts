/** What turns text into the ids of a model's vocabulary. Any string may be given, lone surrogates and the empty one included. */
export interface Tokenizer {
  /** Ids of the pieces; with `special`, the model's frame for a single text around them. Default: without. */
  encode(text: string, options?: { readonly special?: boolean | undefined }): Int32Array;
  /** How many ids `encode` would give. */
  count(text: string, options?: { readonly special?: boolean | undefined }): number;
  /** A pair as a cross-encoder reads it, frame included. Either text may be empty. */
  encodePair(first: string, second: string): EncodedPair;
  /** The items as they stand in the text that joins them with one space, each apart, without a frame. */
  encodeItems(items: readonly string[]): Int32Array[];
  /** The text of each piece as the vocabulary has it; unknown ids are the unknown piece. */
  pieces(ids: Iterable<number>): string[];
  idOf(piece: string): number | undefined;
  /** The special ids that stand around one text, and around and between the two of a pair: for windows. */
  readonly frame: Frame;
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
    /** Token types (segments) of the ids before, of the first text, between, of the second text, and after. */
    readonly types: {
      readonly before: readonly number[];
      readonly first: number;
      readonly between: readonly number[];
      readonly second: number;
      readonly after: readonly number[];
    };
  };
}

/** The frame of a model that has none. */
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

/** A pair of encoded texts in its frame: also for a window of the second text. */
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
 * The text with at most 128 combining marks in a row. Normal forms sort the marks of a letter, which takes time with the
 * square of their number: 200,000 marks in a row take 20 seconds. (UAX #15 calls text with more than 30 unsafe for streams.)
 */
export const withoutMarkFloods = (text: string): string => text.replace(MARK_FLOOD, '$1');

const MARK_FLOOD = /(\p{M}{128})\p{M}+/gu;

/** The text with U+FFFD in place of each lone surrogate. */
export const wellFormed = (text: string): string => text.replace(/\p{Cs}/gu, '\uFFFD');
