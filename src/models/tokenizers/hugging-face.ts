/** The tokenizers of the hub (`tokenizer.json`), for every kind of model that @huggingface/tokenizers reads. */
import {
  type Frame,
  framePair,
  frameSingle,
  NO_FRAME,
  type Tokenizer,
  wellFormed,
  withoutMarkFloods,
} from './tokenizer.ts';

/**
 * The tokenizer of a model from the parsed `tokenizer.json` and `tokenizer_config.json`. Truncation and padding that
 * the files ask for are left to the caller. Throws an Error when the files describe no tokenizer.
 */
export async function openTokenizer(tokenizerJson: object, tokenizerConfig: object): Promise<Tokenizer> {
  const { Tokenizer: HubTokenizer } = await import('@huggingface/tokenizers');
  const hub = new HubTokenizer(tokenizerJson, tokenizerConfig);
  const unknown = hub.model?.unk_token;
  const frame = readFrame(hub.post_processor as PostProcessor | null, (piece) => hub.token_to_id(piece));
  const spaceBelongsToPiece = usesByteLevel(tokenizerJson);

  const bare = (text: string): Int32Array =>
    Int32Array.from(hub.encode(withoutMarkFloods(wellFormed(text)), { add_special_tokens: false }).ids);

  return {
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

/** What the library's post-processors do; its own types leave the results open. */
type PostProcessor = (
  first: string[],
  second: string[] | null,
  special: boolean,
) => { tokens: string[]; token_type_ids?: number[] };

/**
 * The frame is what the post-processor puts around two words of our own. (The library itself takes an empty second text
 * for none, which would leave out its separators.)
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
  // A post-processor that knows no pairs gives the first text alone.
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

/** Byte-level pieces carry the space before them; in the other kinds a space only separates, or every text starts with it. */
function usesByteLevel(tokenizerJson: object): boolean {
  const { pre_tokenizer: pre } = tokenizerJson as { pre_tokenizer?: PreTokenizerJson | null };
  const steps = pre?.type === 'Sequence' ? (pre.pretokenizers ?? []) : pre ? [pre] : [];
  return steps.some((step) => step.type === 'ByteLevel' && !step.add_prefix_space);
}

interface PreTokenizerJson {
  readonly type?: string;
  readonly add_prefix_space?: boolean;
  readonly pretokenizers?: readonly PreTokenizerJson[];
}
