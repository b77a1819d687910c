/** A small byte-level tokenizer in the hub's format, with the special tokens and the word pattern of Qwen's. */

/** GPT-2's printable character for each byte. */
const CHARACTERS = (() => {
  const printable = (byte: number) => (byte >= 33 && byte <= 126) || (byte >= 161 && byte <= 172) || byte >= 174;
  let next = 256;
  return Array.from({ length: 256 }, (_, byte) => String.fromCodePoint(printable(byte) ? byte : next++));
})();

const SPACE = CHARACTERS[32]!;
const MERGES = [
  ['y', 'e'],
  ['ye', 's'],
  ['n', 'o'],
  [SPACE, 't'],
  [`${SPACE}t`, 'h'],
  [`${SPACE}th`, 'e'],
  ['i', 'n'],
  [SPACE, 'w'],
  ['e', 'r'],
  ['?', CHARACTERS[10]!],
] as const;
const SPECIALS = ['<|endoftext|>', '<|im_start|>', '<|im_end|>', '<think>', '</think>', '<image>', '<bos>', '<pad>'];
const PIECES = [...CHARACTERS, ...MERGES.map(([first, second]) => first + second)];

export const BYTE_LEVEL_SIZE = PIECES.length + SPECIALS.length;
export const BYTE_LEVEL_CONFIG = { pad_token: '<|endoftext|>', eos_token: '<|endoftext|>', unk_token: null };

/** `end` is appended to each text. */
export const byteLevelTokenizer = (end?: string, start?: string) => ({
  version: '1.0',
  truncation: null,
  padding: null,
  added_tokens: SPECIALS.map((content, at) => ({
    id: PIECES.length + at,
    content,
    single_word: false,
    lstrip: false,
    rstrip: false,
    normalized: false,
    special: true,
  })),
  normalizer: { type: 'NFC' },
  pre_tokenizer: {
    type: 'Sequence',
    pretokenizers: [
      {
        type: 'Split',
        pattern: {
          Regex:
            "(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+",
        },
        behavior: 'Isolated',
        invert: false,
      },
      { type: 'ByteLevel', add_prefix_space: false, trim_offsets: false, use_regex: false },
    ],
  },
  post_processor: {
    type: 'TemplateProcessing',
    single: [...around(start), { Sequence: { id: 'A', type_id: 0 } }, ...around(end)],
    pair: [
      ...around(start),
      { Sequence: { id: 'A', type_id: 0 } },
      { Sequence: { id: 'B', type_id: 0 } },
      ...around(end),
    ],
    special_tokens: Object.fromEntries(
      [start, end].flatMap((one) =>
        one === undefined
          ? []
          : [[one, { id: one, ids: [PIECES.length + SPECIALS.indexOf(one)], tokens: [one] }] as const],
      ),
    ),
  },
  decoder: { type: 'ByteLevel', add_prefix_space: false, trim_offsets: false, use_regex: false },
  model: {
    type: 'BPE',
    dropout: null,
    unk_token: null,
    continuing_subword_prefix: '',
    end_of_word_suffix: '',
    fuse_unk: false,
    byte_fallback: false,
    vocab: Object.fromEntries(PIECES.map((piece, id) => [piece, id])),
    merges: MERGES.map((merge) => merge.join(' ')),
  },
});

const around = (token: string | undefined) =>
  token === undefined ? [] : [{ SpecialToken: { id: token, type_id: 0 } }];
