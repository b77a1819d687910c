/**
 * Tokenizers from the hub (`tokenizer.json`), for every type that @huggingface/tokenizers supports. BERT-style
 * tokenizers use our own WordPiece implementation, which returns the same ids in a fraction of the time.
 */
import {
  type Frame,
  framePair,
  frameSingle,
  limitCombiningMarks,
  NO_FRAME,
  type ReversibleTokenizer,
  wellFormed,
} from './tokenizer.ts';
import { createWordPiece, type WordPieceOptions } from './wordpiece.ts';

/**
 * Creates the tokenizer from the parsed `tokenizer.json` and `tokenizer_config.json`. Truncation and padding settings
 * in the files are ignored; the caller does both. Throws an Error if the files are invalid.
 */
export async function openTokenizer(tokenizerJson: object, tokenizerConfig: object): Promise<ReversibleTokenizer> {
  const { Tokenizer: HubTokenizer } = await import('@huggingface/tokenizers');
  const hub = new HubTokenizer(tokenizerJson, tokenizerConfig);
  const unknown = hub.model?.unk_token;
  const frame = readFrame(hub.post_processor as PostProcessor | null, (piece) => hub.token_to_id(piece));
  const wordPiece = readWordPiece(tokenizerJson as TokenizerJson, tokenizerConfig);
  const special = new Set(
    ((tokenizerJson as TokenizerJson).added_tokens ?? []).flatMap(({ id, special: isIt }) => (isIt ? [id] : [])),
  );
  const reverse: Pick<ReversibleTokenizer, 'decode' | 'isSpecial'> = {
    decode: (ids, { skipSpecial }) =>
      ids.every((id) => hub.id_to_token(id) !== undefined)
        ? hub.decode([...ids], { skip_special_tokens: skipSpecial })
        : undefined,
    isSpecial: (id) => special.has(id),
  };
  if (wordPiece) return { ...createWordPiece({ ...wordPiece, frame }), ...reverse };
  const spaceBelongsToPiece = usesByteLevel(tokenizerJson as TokenizerJson);

  const bare = (text: string): Int32Array =>
    Int32Array.from(hub.encode(limitCombiningMarks(wellFormed(text)), { add_special_tokens: false }).ids);

  return {
    ...reverse,
    frame,
    encode: (text, options) => (options?.special ? frameSingle(frame, bare(text)) : bare(text)),
    count: (text, options) => bare(text).length + (options?.special ? frame.before.length + frame.after.length : 0),
    encodePair: (first, second) => framePair(frame, bare(first), bare(second)),
    encodeItems: (items) =>
      items.map((item, index) => bare(index > 0 && spaceBelongsToPiece && item !== '' ? ` ${item}` : item)),
    pieces: (ids) => Array.from(ids, (id) => hub.id_to_token(id) ?? unknown ?? ''),
    idOf: (piece) => hub.token_to_id(piece),
  };
}

/** Signature of the library's post-processors. The library itself does not define types for their results. */
type PostProcessor = (
  first: string[],
  second: string[] | null,
  special: boolean,
) => { tokens: string[]; token_type_ids?: number[] };

/**
 * Finds the special tokens by running the post-processor on two placeholders. (The library treats an empty second text
 * as absent, which would omit separators.)
 */
function readFrame(process: PostProcessor | null, idOf: (piece: string) => number | undefined): Frame {
  if (process === null) return NO_FRAME;
  const first = '\0first';
  const second = '\0second';
  const ids = (pieces: readonly string[]) =>
    pieces.map((piece) => {
      const id = idOf(piece);
      if (id === undefined) throw new Error(`the tokenizer has no piece ${JSON.stringify(piece)}`);
      return id;
    });
  const single = process([first], null, true).tokens;
  const at = single.indexOf(first);
  const { tokens, token_type_ids: given } = process([first], [second], true);
  const firstAt = tokens.indexOf(first);
  // A post-processor that does not support pairs returns only the first text.
  const secondAt = tokens.includes(second) ? tokens.indexOf(second) : tokens.length;
  if (at < 0 || firstAt < 0 || secondAt < firstAt) throw new Error('the tokenizer leaves out a text');
  const types = given ?? tokens.map(() => 0);
  return {
    before: ids(single.slice(0, at)),
    after: ids(single.slice(at + 1)),
    pair: {
      before: ids(tokens.slice(0, firstAt)),
      between: ids(tokens.slice(firstAt + 1, secondAt)),
      after: ids(tokens.slice(secondAt + 1)),
      types: {
        before: types.slice(0, firstAt),
        first: types[firstAt] ?? 0,
        between: types.slice(firstAt + 1, secondAt),
        second: types[secondAt] ?? 0,
        after: types.slice(secondAt + 1),
      },
    },
  };
}

/**
 * Byte-level pieces include the preceding space. In other tokenizers, a space is only a separator, or is added before
 * every text.
 */
function usesByteLevel({ pre_tokenizer: pre }: TokenizerJson): boolean {
  const steps = pre?.type === 'Sequence' ? (pre.pretokenizers ?? []) : pre ? [pre] : [];
  return steps.some((step) => step.type === 'ByteLevel' && !step.add_prefix_space);
}

/** Options for our own WordPiece implementation; undefined if the file needs features that it does not support. */
function readWordPiece(json: TokenizerJson, config: object): WordPieceOptions | undefined {
  const { model, normalizer, pre_tokenizer: pre, added_tokens: added = [] } = json;
  if (model?.type !== 'WordPiece' || model.continuing_subword_prefix !== '##' || !model.vocab) return undefined;
  if (normalizer?.type !== 'BertNormalizer' || pre?.type !== 'BertPreTokenizer') return undefined;
  if (added.some((token) => token.normalized || token.single_word)) return undefined;
  if ('remove_space' in config || 'do_lowercase_and_remove_accent' in config) return undefined;
  const lowerCase = normalizer.lowercase ?? false;
  return {
    vocabulary: { ...model.vocab, ...Object.fromEntries(added.map(({ content, id }) => [content, id])) },
    lowerCase,
    stripAccents: normalizer.strip_accents ?? lowerCase,
    cleanText: normalizer.clean_text ?? false,
    splitIdeographs: normalizer.handle_chinese_chars ?? false,
    unknownPiece: model.unk_token ?? '[UNK]',
    maxCharactersPerWord: model.max_input_chars_per_word ?? 100,
    specialPieces: added.map(({ content }) => content),
  };
}

/** The parts of the file that are used here. */
interface TokenizerJson {
  readonly added_tokens?: readonly {
    readonly id: number;
    readonly content: string;
    readonly normalized?: boolean;
    readonly single_word?: boolean;
    readonly special?: boolean;
  }[];
  readonly normalizer?: {
    readonly type?: string;
    readonly clean_text?: boolean;
    readonly handle_chinese_chars?: boolean;
    readonly strip_accents?: boolean | null;
    readonly lowercase?: boolean;
  } | null;
  readonly pre_tokenizer?: PreTokenizerJson | null;
  readonly model?: {
    readonly type?: string;
    readonly unk_token?: string | null;
    readonly continuing_subword_prefix?: string;
    readonly max_input_chars_per_word?: number;
    readonly vocab?: Readonly<Record<string, number>>;
  };
}

interface PreTokenizerJson {
  readonly type?: string;
  readonly add_prefix_space?: boolean;
  readonly pretokenizers?: readonly PreTokenizerJson[];
}
