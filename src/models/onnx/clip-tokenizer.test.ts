/** Tests CLIP tokenization: lower case, byte pairs with `</w>` at word ends, and 77 tokens including start and end. */
import { expect, it } from 'vitest';
import { openTokenizer } from '../tokenizers/hugging-face.ts';
import { createPreparer } from './tokenize.ts';

const [START, END] = ['<|startoftext|>', '<|endoftext|>'];
const LETTERS = [...'abcdefghijklmnopqrstuvwxyz!.'];
const MERGES = [
  ['c', 'a'],
  ['ca', 't</w>'],
  ['o', 'f</w>'],
  ['h', 'o'],
  ['p', 'ho'],
];
const PIECES = [
  ...LETTERS,
  ...LETTERS.map((letter) => `${letter}</w>`),
  ...MERGES.map(([first, second]) => `${first}${second}`),
  START!,
  END!,
];
const idOf = (piece: string) => PIECES.indexOf(piece);

/** In the format of CLIP's published files. */
const TOKENIZER = {
  version: '1.0',
  truncation: null,
  padding: null,
  added_tokens: [START, END].map((content) => ({
    ...{ id: idOf(content!), content, special: true, normalized: content === START },
    ...{ single_word: false, lstrip: false, rstrip: false },
  })),
  normalizer: {
    type: 'Sequence',
    normalizers: [
      { type: 'NFC' },
      { type: 'Replace', pattern: { Regex: '\\s+' }, content: ' ' },
      { type: 'Lowercase' },
    ],
  },
  pre_tokenizer: {
    type: 'Sequence',
    pretokenizers: [
      {
        type: 'Split',
        pattern: { Regex: "'s|'t|'re|'ve|'m|'ll|'d|[\\p{L}]+|[\\p{N}]|[^\\s\\p{L}\\p{N}]+" },
        behavior: 'Removed',
        invert: true,
      },
      { type: 'ByteLevel', add_prefix_space: false, trim_offsets: true },
    ],
  },
  post_processor: {
    type: 'RobertaProcessing',
    sep: [END, idOf(END!)],
    cls: [START, idOf(START!)],
    trim_offsets: false,
    add_prefix_space: false,
  },
  decoder: { type: 'ByteLevel', add_prefix_space: true, trim_offsets: true },
  model: {
    type: 'BPE',
    dropout: null,
    unk_token: END,
    continuing_subword_prefix: '',
    end_of_word_suffix: '</w>',
    fuse_unk: false,
    vocab: Object.fromEntries(PIECES.map((piece, id) => [piece, id])),
    merges: MERGES.map((pair) => pair.join(' ')),
  },
};
const CONFIG = {
  tokenizer_class: 'CLIPTokenizer',
  model_max_length: 77,
  pad_token: END,
  bos_token: START,
  eos_token: END,
};

const prepared = async (text: string, maxTokens?: number) => {
  const tokenizer = await openTokenizer(TOKENIZER, CONFIG);
  const preparer = createPreparer(tokenizer, { contextTokens: 77, padId: idOf(END!) });
  const [ready] = await preparer.prepare([text], { maxTokens });
  return { ...ready!, pieces: Array.from(ready!.sequence.ids, (id) => PIECES[id]) };
};

it('lower-cases words and marks their ends', async () => {
  const { pieces } = await prepared('A  Photo\nof CAT!');
  expect(pieces).toEqual([START, 'a</w>', 'pho', 't', 'o</w>', 'of</w>', 'cat</w>', '!</w>', END]);
});

it('keeps start and end tokens when it truncates, and for empty text', async () => {
  const { pieces, fullTokens } = await prepared('cat '.repeat(200), 77);
  expect(pieces).toEqual([START, ...new Array(75).fill('cat</w>'), END]);
  expect(fullTokens).toBe(202);
  expect((await prepared('')).pieces).toEqual([START, END]);
});
