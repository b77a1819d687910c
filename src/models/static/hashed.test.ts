import fc from 'fast-check';
import { expect, test } from 'vitest';
import { FeatureCounts, HASHED, readIdf } from './hashed.ts';
import { createFlags, WordWalk } from './words.ts';

const IDF = new Map([
  ['tea', 3.5],
  ['a', 1.25],
  ['straße', 7],
]);
const UNSEEN = 14.234;
const idf = readIdf([...IDF].map(([word, value]) => `${word}\t${value}`).join('\n'), UNSEEN);
const flags = createFlags();
const counts = new FeatureCounts(idf);

function actualFeatures(text: string, step = 1_000): { slots: Float64Array; letters: number; otherLetters: number } {
  counts.begin();
  const walk = new WordWalk(flags, text, counts);
  while (!walk.step(step));
  const slots = new Float64Array(HASHED);
  counts.addTo(slots);
  return { slots, letters: walk.letters, otherLetters: walk.otherLetters };
}

function crc32(text: string): number {
  let crc = 0xffffffff;
  for (const byte of Buffer.from(text)) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >>> 1) ^ 0xedb88320 : crc >>> 1;
  }
  return ~crc >>> 0;
}

/** The definition in the model's README, implemented on strings. */
function expectedFeatures(text: string): Float64Array {
  const features = new Map<string, number>();
  const whole = new Map<string, number>();
  const add = (feature: string, count: number) => features.set(feature, (features.get(feature) ?? 0) + count);
  const windows = (characters: readonly string[], size: number, count: number) => {
    for (let at = 0; at + size <= characters.length; at++) add(characters.slice(at, at + size).join(''), count);
  };
  for (const [run] of text.matchAll(/[\p{L}\p{M}\p{N}_]+/gu)) {
    const word = run.toLowerCase();
    if (/[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\u0e00-\u0e7f]/.test(word)) {
      for (const [size, count] of [
        [1, 0.3],
        [2, 1],
        [3, 0.6],
      ] as const)
        windows([...word], size, count);
      continue;
    }
    whole.set(`<${word}>`, IDF.get(word) ?? UNSEEN);
    add(`<${word}>`, 1);
    for (const size of [3, 4, 5]) windows([...`<${word}>`], size, 0.3);
  }
  const slots = new Float64Array(HASHED);
  for (const [feature, count] of features) {
    const sign = crc32(`#${feature}`) & 1 ? 1 : -1;
    const value = count >= 1 ? 1 + Math.log(count) : count;
    slots[crc32(feature) % HASHED]! += sign * value * (whole.get(feature) ?? 5);
  }
  return slots;
}

const expectSame = (text: string, step?: number) => {
  const expected = expectedFeatures(text);
  const { slots } = actualFeatures(text, step);
  const differences = slots.map((value, at) => Math.abs(value - expected[at]!));
  expect(Math.max(...differences)).toBeLessThan(1e-6);
};

const word = fc.constantFrom(
  'tea',
  'Tea',
  'a',
  'STRASSE',
  'Straße',
  'ΟΔΟΣ',
  'İstanbul',
  'снег',
  '光合作用',
  'カナ',
  'แมว',
  '각하',
  '𐐀𐐁',
  'x_1',
  'é',
  '٣',
);
const part = fc.oneof(
  word,
  fc.constantFrom(' ', ' ', '.', '-', '😀', '\ud800', '\n'),
  fc.string({ unit: 'binary', maxLength: 3 }),
);

test('features of texts in all scripts, wherever a step ends', () => {
  fc.assert(
    fc.property(fc.array(part, { maxLength: 40, size: 'max' }), fc.integer({ min: 1, max: 50 }), (parts, step) =>
      expectSame(parts.join(''), step),
    ),
    { seed: 6, numRuns: 2_000 },
  );
});

test('features of long words, many words and the text after them', () => {
  expectSame(`${'abcdefghij'.repeat(300)} tea`);
  expectSame(Array.from({ length: 3_000 }, (_, at) => `w${at * 7919}`).join(' '));
  expectSame('tea');
});

test('counts letters by script', () => {
  expect(actualFeatures('tea é снег 光 1_')).toMatchObject({ letters: 9, otherLetters: 5 });
  expect(actualFeatures('𐐀b')).toMatchObject({ letters: 2, otherLetters: 1 });
});
