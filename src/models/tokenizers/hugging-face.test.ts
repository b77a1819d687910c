import { expect, test } from 'vitest';
import { openTokenizer } from './hugging-face.ts';

const WORDS = ['[PAD]', '[UNK]', '[CLS]', '[SEP]', 'tea', 'pot', '##s', '.', 'é'];
const special = (content: string, id: number) => ({
  id,
  content,
  single_word: false,
  lstrip: false,
  rstrip: false,
  normalized: false,
  special: true,
});
const bert = {
  version: '1.0',
  truncation: { direction: 'Right', max_length: 2, strategy: 'LongestFirst', stride: 0 },
  padding: null,
  added_tokens: WORDS.slice(0, 4).map(special),
  normalizer: {
    type: 'BertNormalizer',
    clean_text: true,
    handle_chinese_chars: true,
    strip_accents: null,
    lowercase: true,
  },
  pre_tokenizer: { type: 'BertPreTokenizer' },
  post_processor: {
    type: 'TemplateProcessing',
    single: [
      { SpecialToken: { id: '[CLS]', type_id: 0 } },
      { Sequence: { id: 'A', type_id: 0 } },
      { SpecialToken: { id: '[SEP]', type_id: 0 } },
    ],
    pair: [
      { SpecialToken: { id: '[CLS]', type_id: 0 } },
      { Sequence: { id: 'A', type_id: 0 } },
      { SpecialToken: { id: '[SEP]', type_id: 0 } },
      { Sequence: { id: 'B', type_id: 1 } },
      { SpecialToken: { id: '[SEP]', type_id: 1 } },
    ],
    special_tokens: {
      '[CLS]': { id: '[CLS]', ids: [2], tokens: ['[CLS]'] },
      '[SEP]': { id: '[SEP]', ids: [3], tokens: ['[SEP]'] },
    },
  },
  decoder: { type: 'WordPiece', prefix: '##', cleanup: true },
  model: {
    type: 'WordPiece',
    unk_token: '[UNK]',
    continuing_subword_prefix: '##',
    max_input_chars_per_word: 100,
    vocab: Object.fromEntries(WORDS.map((word, id) => [word, id])),
  },
};

const byteLevel = {
  ...bert,
  added_tokens: [special('<s>', 0), special('</s>', 1)],
  normalizer: null,
  pre_tokenizer: { type: 'ByteLevel', add_prefix_space: false, trim_offsets: true, use_regex: true },
  post_processor: {
    type: 'RobertaProcessing',
    sep: ['</s>', 1],
    cls: ['<s>', 0],
    trim_offsets: true,
    add_prefix_space: false,
  },
  decoder: { type: 'ByteLevel' },
  model: {
    type: 'BPE',
    unk_token: null,
    vocab: { '<s>': 0, '</s>': 1, t: 2, e: 3, a: 4, Ġ: 5, te: 6, tea: 7, Ġtea: 8 },
    merges: ['t e', 'te a', 'Ġ tea'],
  },
};

test('a single text, with and without special tokens; truncation settings are ignored', async () => {
  const tokenizer = await openTokenizer(bert, {});
  expect([...tokenizer.encode('Teas pot.')]).toEqual([4, 6, 5, 7]);
  expect([...tokenizer.encode('Teas pot.', { special: true })]).toEqual([2, 4, 6, 5, 7, 3]);
  expect(tokenizer.count('Teas pot.')).toBe(4);
  expect(tokenizer.count('Teas pot.', { special: true })).toBe(6);
  expect(tokenizer.pieces([4, 6, 99])).toEqual(['tea', '##s', '[UNK]']);
  expect(tokenizer.idOf('pot')).toBe(5);
});

test('our own WordPiece and the library return the same ids', async () => {
  const own = await openTokenizer(bert, {});
  // A setting that only the library supports. It does not affect these texts.
  const library = await openTokenizer(bert, { remove_space: false });
  for (const text of ['Teas pot.', 'tea[SEP]pot [MASK]', 'É é teás', '光 pot', '', '[UNK]s']) {
    expect(own.encode(text, { special: true })).toEqual(library.encode(text, { special: true }));
    expect(own.encodePair(text, 'pot')).toEqual(library.encodePair(text, 'pot'));
    expect(own.pieces(own.encode(text))).toEqual(library.pieces(library.encode(text)));
  }
});

test('a pair has type ids, and its separators even if a text is empty', async () => {
  const tokenizer = await openTokenizer(bert, {});
  const { ids, typeIds } = tokenizer.encodePair('tea', 'pot .');
  expect([...ids]).toEqual([2, 4, 3, 5, 7, 3]);
  expect([...typeIds]).toEqual([0, 0, 0, 1, 1, 1]);
  expect([...tokenizer.encodePair('tea', '').ids]).toEqual([2, 4, 3, 3]);
  expect([...tokenizer.encodePair('', 'pot').ids]).toEqual([2, 3, 5, 3]);
});

test('items of byte-level models include the space that joins them', async () => {
  const tokenizer = await openTokenizer(byteLevel, {});
  expect([...tokenizer.encode('tea tea')]).toEqual([7, 8]);
  expect(tokenizer.encodeItems(['tea', 'tea', '', 'tea']).map((ids) => [...ids])).toEqual([[7], [8], [], [8]]);
  expect([...tokenizer.encodePair('tea', 'tea').ids]).toEqual([0, 7, 1, 1, 7, 1]);
  const words = await openTokenizer(bert, {});
  expect(words.encodeItems(['tea', 'pots']).map((ids) => [...ids])).toEqual([[4], [5, 6]]);
});

test('without a post-processor there are no special tokens', async () => {
  const tokenizer = await openTokenizer({ ...bert, post_processor: null }, {});
  expect([...tokenizer.encode('tea', { special: true })]).toEqual([4]);
  expect([...tokenizer.encodePair('tea', 'pot').ids]).toEqual([4, 5]);
});

test('very many combining marks, lone surrogates and the empty text do no harm', async () => {
  const tokenizer = await openTokenizer(bert, {});
  // Marks that normalization must sort. Without a limit, this takes minutes.
  expect([...tokenizer.encode(`tea${'\u0301'.repeat(200_000)}${'\u0323'.repeat(200_000)} pot`)]).toEqual([4, 5]);
  expect([...tokenizer.encode('tea \ud800 pot\udc00')]).toEqual([4, 5]);
  expect([...tokenizer.encode('')]).toEqual([]);
  expect([...tokenizer.encode('', { special: true })]).toEqual([2, 3]);
});
