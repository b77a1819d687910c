import { describe, expect, it } from 'vitest';
import type { OcrWord } from '../hocr.ts';
import { ocrWarnings } from '../warnings.ts';
import { isNumber, lettersAgain, mergeWords } from './words.ts';

const word = (text: string, left: number, right: number, confidence: number): OcrWord => ({
  text,
  box: { left, right, top: 0, bottom: 20 },
  confidence,
});
const textsOf = (words: readonly OcrWord[]) => words.map(({ text }) => text);

describe('two readings of the same words', () => {
  it('keep the number whole if one recognizer tore it apart', () => {
    const { words, doubts } = mergeWords(
      [word('26.', 0, 30, 0.9), word('24', 34, 60, 0.9)],
      [word('26.24', 0, 60, 0.99)],
      true,
    );
    expect(textsOf(words)).toEqual(['26.24']);
    expect(doubts).toEqual([]);
  });

  it('name a number that differs, with both readings and less confidence', () => {
    const { words, doubts } = mergeWords([word('92', 0, 40, 0.9)], [word('8.92', 0, 40, 0.98)], true);
    expect(textsOf(words)).toEqual(['8.92']);
    expect(words[0]).toMatchObject({ other: '92', confidence: 0.5 });
    expect(doubts).toEqual([{ chosen: '8.92', other: '92' }]);
  });

  it('take a digit that only one of them saw', () => {
    const { words, doubts } = mergeWords([], [word('7', 10, 20, 0.97)], true);
    expect(textsOf(words)).toEqual(['7']);
    expect(doubts).toEqual([]);
    expect(mergeWords([], [word('7', 10, 20, 0.5)], true).words).toEqual([]);
    expect(mergeWords([], [word('l', 10, 20, 0.7)], true).words).toEqual([]);
  });

  it('keep letters as Tesseract read them, unless it is unsure', () => {
    const neural = [word('Item', 0, 60, 0.99)];
    expect(textsOf(mergeWords([word('Ltem', 0, 60, 0.95)], neural, true).words)).toEqual(['Ltem']);
    expect(textsOf(mergeWords([word('Ttem', 0, 60, 0.6)], neural, true).words)).toEqual(['Item']);
    expect(textsOf(mergeWords([word('Ttem', 0, 60, 0.6)], neural, false).words)).toEqual(['Ttem']);
  });

  it('keep the space and the stop that only Tesseract read', () => {
    const theirs = [word('of', 0, 20, 0.96), word('48,', 24, 50, 0.96)];
    expect(textsOf(mergeWords(theirs, [word('of48.', 0, 50, 0.97)], true).words)).toEqual(['of', '48,']);
  });

  it('stay in the order of writing from right to left', () => {
    const theirs = [word('تفتح', 60, 100, 0.9), word('المكتبة', 0, 50, 0.9)];
    expect(mergeWords(theirs, [], false).words).toEqual(theirs);
  });
});

it.each([
  ['8.92', true],
  ['5kg', false],
  ['12%', true],
  ['Table', false],
  ['', false],
])('a number has at least as many digits as letters: %s', (text, expected) => {
  expect(isNumber(text)).toBe(expected);
});

it.each([
  ['tota1', 'total'],
  ['1amp', 'lamp'],
  ['0range', 'orange'],
  ['1st', '1st'],
  ['10.50', '10.50'],
  ['a1.5', 'a1.5'],
])('letters that look like digits are letters inside a word: %s', (text, expected) => {
  expect(lettersAgain(text)).toBe(expected);
});

describe('the warning', () => {
  it('counts the numbers and names both readings, and repeats no note', () => {
    const notes = ['A note'];
    const doubts = [{ chosen: '8.92', other: '92' }];
    expect(ocrWarnings([{ doubts, notes: [] }])).toEqual([
      '1 number was read differently by two recognizers: 8.92 (or 92)',
    ]);
    expect(
      ocrWarnings([
        { doubts, notes },
        { doubts, notes },
      ]),
    ).toEqual(['2 numbers were read differently by two recognizers: 8.92 (or 92), 8.92 (or 92)', 'A note']);
    expect(ocrWarnings([{ doubts: [], notes: [] }])).toEqual([]);
  });

  it('names the first ten', () => {
    const doubts = Array.from({ length: 12 }, (_, at) => ({ chosen: `${at}0`, other: `${at}` }));
    const [text] = ocrWarnings([{ doubts, notes: [] }]);
    expect(text).toMatch(/^12 numbers were .* 90 \(or 9\), \.\.\.$/);
  });
});
