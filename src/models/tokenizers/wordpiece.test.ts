// Full run only: compares every character of Unicode.
import { Tokenizer as HubTokenizer } from '@huggingface/tokenizers';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createWordPiece } from './wordpiece.ts';

// Every letter is a piece, so that a difference in any character is visible.
const ALPHABET = Array.from({ length: 0x3100 }, (_, at) => String.fromCharCode(at)).filter((c) =>
  /[\p{L}\p{M}]/u.test(c),
);
const SIGNS = Array.from({ length: 0x5f }, (_, at) => String.fromCharCode(0x20 + at)).filter((c) => /[^\sA-Z]/.test(c));
/** Beginnings, middles and ends of words, as of a trained vocabulary. */
const SYLLABLES =
  'the an in er on re ed es at or is ing tion ent pot tea photo syn thesis wind strom ist und è et нов ост ией ка να ος'.split(
    ' ',
  );
const LONGER = [
  'the',
  'and',
  'quick',
  'fox',
  'jumps',
  'over',
  'dogs',
  'photosynthesis',
  'naive',
  'что',
  'или',
  'και',
].concat(SYLLABLES.flatMap((one) => SYLLABLES.map((other) => one + other)));
const PIECES = ['[PAD]', '[UNK]'].concat(
  [...SIGNS, ...ALPHABET, ...SYLLABLES, ...LONGER].flatMap((piece) => [piece, `##${piece}`]),
);
const json = {
  version: '1.0',
  truncation: null,
  padding: null,
  added_tokens: ['[PAD]', '[UNK]'].map((content, id) => ({
    id,
    content,
    single_word: false,
    lstrip: false,
    rstrip: false,
    normalized: false,
    special: true,
  })),
  normalizer: {
    type: 'BertNormalizer',
    clean_text: true,
    handle_chinese_chars: true,
    strip_accents: true,
    lowercase: true,
  },
  pre_tokenizer: { type: 'BertPreTokenizer' },
  post_processor: null,
  decoder: { type: 'WordPiece', prefix: '##', cleanup: true },
  model: {
    type: 'WordPiece',
    unk_token: '[UNK]',
    continuing_subword_prefix: '##',
    max_input_chars_per_word: 100,
    vocab: Object.fromEntries([...new Set(PIECES)].map((piece, id) => [piece, id])),
  },
};
const hub = new HubTokenizer(json, {});
const expected = (text: string): number[] => hub.encode(text, { add_special_tokens: false }).ids;
const ours = createWordPiece({
  vocabulary: json.model.vocab,
  lowerCase: true,
  stripAccents: true,
  specialPieces: ['[PAD]', '[UNK]'],
});

/** Ideographs beyond the BMP are separate words, as in BERT; the library treats them as letters. */
const BEYOND_IDEOGRAPHS = /[\u{20000}-\u{2a6df}\u{2a700}-\u{2ceaf}\u{2f800}-\u{2fa1f}]/gu;
/** The few marks that Unicode normalization may reorder and that are not removed afterwards. */
const sortedMark = (char: string) => /^\p{Mc}$/u.test(char) && `${char}\u0334`.normalize('NFD') !== `${char}\u0334`;

describe('equal to @huggingface/tokenizers', () => {
  test('every character, within a word and alone', () => {
    const differing: string[] = [];
    for (let block = 0; block < 0x110000; block += 0x100) {
      const characters = Array.from({ length: 0x100 }, (_, at) => block + at)
        .filter((point) => point < 0xd800 || point > 0xdfff)
        .map((point) => String.fromCodePoint(point))
        .filter((char) => /\P{Cn}/u.test(char) && /\P{Co}/u.test(char) && char.search(BEYOND_IDEOGRAPHS) < 0);
      const text = characters.map((char) => `a${char}b ${char}`).join(' c ');
      if (text !== '' && expected(text).join() !== ours.encode(text).join()) {
        for (const char of characters) {
          const one = `a${char}b ${char}`;
          if (expected(one).join() !== ours.encode(one).join()) differing.push(char.codePointAt(0)!.toString(16));
        }
        expect(differing, `block ${block.toString(16)}`).not.toEqual([]);
      }
    }
    expect(differing).toEqual([]);
  }, 120_000);

  const scripts = [
    [0x20, 0x7e],
    [0xa0, 0x24f],
    [0x300, 0x36f],
    [0x370, 0x3ff],
    [0x400, 0x52f],
    [0x530, 0x6ff],
    [0x700, 0xdff],
    [0xe00, 0x109f],
    [0x10a0, 0x1fff],
    [0x2000, 0x2bff],
    [0x3000, 0x4fff],
    [0xac00, 0xd7ff],
    [0xd800, 0xdfff],
    [0xe000, 0xffff],
    [0x10000, 0x1ffff],
  ] as const;
  const character = fc
    .oneof(...scripts.map(([from, to]) => fc.integer({ min: from, max: to })))
    .map((point) => String.fromCodePoint(point));
  const common = fc.constantFrom(
    ' ',
    ' ',
    '\t',
    '.',
    "'",
    ':',
    'Σ',
    'ΟΔΟΣ',
    'İ',
    'ǅ',
    'ﬁ',
    '각',
    '[UNK]',
    '[',
    '##',
    'naïve',
  );
  const vocabulary = Object.keys(json.model.vocab);
  const piece = fc.nat(vocabulary.length - 1).map((at) => vocabulary[at]!.replace('##', ''));

  test('texts of all scripts mixed with real pieces', () => {
    let ids = 0;
    fc.assert(
      fc.property(fc.array(fc.oneof(character, common, piece), { maxLength: 60, size: 'max' }), (parts) => {
        const text = parts
          .filter((part) => !sortedMark(part))
          .join('')
          .replace(BEYOND_IDEOGRAPHS, '');
        const result = [...ours.encode(text)];
        ids += result.length;
        expect(result).toEqual(expected(text));
      }),
      { seed: 6, numRuns: 5_000 },
    );
    expect(ids).toBeGreaterThan(80_000);
  }, 120_000);

  test('words around the limit of 100 characters', () => {
    for (const unit of ['a', 'é', '각', '😀', 'ё']) {
      for (const count of [33, 34, 49, 50, 51, 99, 100, 101, 102, 250]) {
        const text = `tea ${unit.repeat(count)}pot`;
        expect([...ours.encode(text)]).toEqual(expected(text));
      }
    }
  });
});

test('ideographs beyond the BMP are words of their own', () => {
  expect(ours.encode('tea\u{20000}pot')).toEqual(ours.encode('tea \u{20000} pot'));
  expect(ours.encode('tea\u{20000}pot')).toHaveLength(3);
});

test('a run in steps returns the same ids, whatever the size of the steps', () => {
  const text = 'Straße naïve ΟΔΟΣ 😀 光合作用 [UNK] words, and more words';
  const whole = ours.encode(text);
  for (const units of [1, 2, 3, 7, 1_000]) {
    const run = ours.start(text);
    while (!run.step(units));
    expect(run.ids()).toEqual(whole);
    expect(run.total).toBe(whole.length);
    expect(run.keptTo).toBe(text.length);
  }
});

test('a limited run keeps that many ids, says how far they reach, and counts all', () => {
  const text = 'the quick brown fox jumps over photosynthetically lazy dogs';
  const whole = ours.encode(text);
  for (let most = 0; most <= whole.length; most++) {
    const run = ours.start(text, most);
    while (!run.step(5));
    expect(run.total).toBe(whole.length);
    expect(run.ids()).toEqual(whole.slice(0, most));
    const reached = ours.encode(text.slice(0, run.keptTo));
    expect(reached.slice(0, most)).toEqual(whole.slice(0, most));
    if (most > 0 && run.keptTo < text.length) expect(text[run.keptTo]).toBe(' ');
  }
});

test('accents and case are kept if the model needs them', () => {
  const cased = createWordPiece({
    vocabulary: { '[UNK]': 0, Café: 1, cafe: 2 },
    lowerCase: false,
    stripAccents: false,
  });
  expect([...cased.encode('Café CAFE cafe')]).toEqual([1, 0, 2]);
});

test('hostile texts take time in proportion to their length', () => {
  const many = 200_000;
  for (const text of [
    'x'.repeat(many),
    '\u0301\u0323'.repeat(many / 2),
    `a${'\u0301'.repeat(many / 2)}${'\u0323'.repeat(many / 2)}`,
    'Σ'.repeat(many),
    `${"Σ'".repeat(many / 2)}`,
    '\ud800'.repeat(many),
    '光'.repeat(many),
    `${'ab'.repeat(50)} `.repeat(many / 100),
    '[UNK'.repeat(many / 4),
    '\u200b'.repeat(many),
  ]) {
    const ids = ours.encode(text);
    expect(ids.length).toBeLessThanOrEqual(text.length);
  }
  expect([...ours.encode('x'.repeat(many))]).toEqual([1]);
  expect(ours.encode('光'.repeat(many))).toHaveLength(many);
}, 30_000);

test('pieces and ids by name', () => {
  expect(ours.pieces(ours.encode('Photosynthesis'))).toEqual(
    hub.encode('Photosynthesis', { add_special_tokens: false }).tokens,
  );
  expect(ours.idOf('[UNK]')).toBe(1);
  expect(ours.idOf('constructor-of-nothing')).toBeUndefined();
});
