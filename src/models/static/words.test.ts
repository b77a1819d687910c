import { readFileSync } from 'node:fs';
import { Tokenizer as HubTokenizer } from '@huggingface/tokenizers';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { modelsFile } from '#models-package.ts';
import { readStaticFiles } from './files.ts';
import { createTermMaker } from './hashed.ts';
import { createLexicon, WORD_MARK } from './lexicon.ts';
import { createVocabulary } from './pieces.ts';
import { createTextReader } from './reading.ts';
import { WordWalk } from './words.ts';

const files = await readStaticFiles();
const vocabulary = createVocabulary(files.pieces, files.scores);
const terms = createTermMaker({ config: files.config.hashed, idfOf: () => undefined, wordMark: WORD_MARK });
const reader = createTextReader(createLexicon(vocabulary, terms));
const yieldIfDue = () => undefined;
const idsOf = async (text: string) => [...(await reader.read(text, { yieldIfDue })).kept.ids];

const json = JSON.parse(readFileSync(modelsFile('lectern-static-v2/tokenizer.json'), 'utf8'));
const hub = new HubTokenizer(json, {});
const expectedIds = (text: string): number[] => hub.encode(text, { add_special_tokens: false }).ids;

function wordsOf(text: string, step = 1_000): string[] {
  const found: string[] = [];
  const walk = new WordWalk(text, { word: (word, isRun) => found.push(isRun ? word : `_${word}`) });
  while (!walk.step(step));
  return found;
}

test.each([
  ['The QUICK brown-fox, v2.0!', ['_the', '_quick', '_brown', '_fox', '_v2', '_0']],
  ['ＦＵＬＬ ｗｉｄｔｈ ﬁne Ⅷ 3½', ['_full', '_width', '_fine', '_viii', '_31', '_2']],
  ['ΟΔΟΣ Σ İ', ['_οδος', '_σ', '_i̇']],
  ['光合作用は植物abcの葉。', ['光合作用は植物', '_abc', 'の葉']],
  ['ｶﾞｽ 々', ['ガス', '々']],
  ['ต้นไม้ ภาษาC', ['ต้นไม้', 'ภาษา', '_c']],
  ['كِتَابٌ أحمد مستشفى ـــ', ['_كتاب', '_احمد', '_مستشفي']],
  ['שָׁלוֹם', ['_שׁלוֹם'.normalize('NFKC').replace(/[\u0591-\u05bd]/g, '')]],
  ['a_b 😀 \u200b \ud800x', ['_a', '_b', '_x']],
  ['𐐀𐐨 \u{20000}', ['_𐐨𐐨', '_\u{20000}']],
  [' \t\n', []],
  ['', []],
])('words of %j', (text, expected) => expect(wordsOf(text)).toEqual(expected));

test('words do not depend on where a step ends', () => {
  const text = 'Straße naïve ΟΔΟΣ 😀 光合作用。植物 ﬁn  e\u0301t\u0323 \ud800 x'.repeat(3);
  const expected = wordsOf(text);
  for (let step = 1; step < 60; step++) expect(wordsOf(text, step), `${step}`).toEqual(expected);
});

test('the vocabulary is that of the file', () => {
  expect(files.pieces.map((text, id) => [text, files.scores[id]])).toEqual(json.model.vocab);
});

/** A sample of real words in many scripts; the other characters are drawn from their blocks. */
const SAMPLES = `
  The quick brown fox jumps over the lazy dog. Wie wird Strom aus Wind gewonnen? L'été, où êtes-vous ? ¿Cómo está la niña?
  Όλοι οι άνθρωποι γεννιούνται ελεύθεροι. Все люди рождаются свободными и равными. Усі люди народжуються вільними. 
  כל בני האדם נולדו בני חורין. يولد جميع الناس أحراراً متساوين. تمام انسان آزاد پیدا ہوئے ہیں. सभी मनुष्यों को गौरव और अधिकारों
  সমস্ত মানুষ স্বাধীনভাবে জন্মগ্রহণ করে. மனிதப் பிறவியினர் சகலரும் சுதந்திரமாகவே. అన్ని మానవులు స్వతంత్రంగా జన్మించారు.
  มนุษย์ทั้งหลายเกิดมามีอิสระและเสมอภาค ມະນຸດເກີດມາມີສິດ 人人生而自由 すべての人間は 모든 인간은 태어날 때부터 자유로우며 မြန်မာဘာသာ ភាសាខ្មែរ
  Tất cả mọi người sinh ra đều được tự do. Bütün insanlar hür doğar. Wszyscy ludzie rodzą się wolni. Minden emberi lény
  function groupBy(rows, key) { return rows.reduce((a, r) => ({ ...a, [r[key]]: 1 }), {}) } -- SELECT * FROM t; naïve café Ⅷ ½ №5
  ყველა ადამიანი იბადება Բոլոր մարդիկ ሁሉም ሰዎች ༄༅ བོད་ཡིག ᠮᠣᠩᠭᠣᠯ 𝐛𝐨𝐥𝐝 𐐀𐐁 ﷺ ㎏ ㍿`.split(/\s+/);
const BLOCKS = [
  [0x20, 0x7e],
  [0xa0, 0x24f],
  [0x300, 0x36f],
  [0x370, 0x52f],
  [0x530, 0x6ff],
  [0x700, 0xdff],
  [0xe00, 0x109f],
  [0x10a0, 0x1fff],
  [0x2000, 0x2bff],
  [0x3000, 0x4fff],
  [0x5000, 0x9fff],
  [0xac00, 0xd7ff],
  [0xd800, 0xdfff],
  [0xe000, 0xffff],
  [0x10000, 0x1ffff],
  [0x20000, 0x2ffff],
] as const;
const character = fc
  .oneof(...BLOCKS.map(([from, to]) => fc.integer({ min: from, max: to })))
  .map((point) => String.fromCodePoint(point));
const piece = fc.nat(files.config.vocabulary - 1).map((id) => files.pieces[id]!.replaceAll(WORD_MARK, ' '));
const part = fc.oneof(fc.constantFrom(...SAMPLES), fc.constantFrom(' ', ' ', '.', '-', '\n'), piece, character);

test('ids are those of @huggingface/tokenizers, on texts of many scripts', async () => {
  let ids = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(part, { maxLength: 40, size: 'max' }), async (parts) => {
      // The library reads `<unk>` as the unknown piece, and we read it as a text.
      const text = parts.join('').replaceAll('<unk>', '');
      const expected = expectedIds(text);
      ids += expected.length;
      expect(await idsOf(text)).toEqual(expected);
    }),
    { seed: 22, numRuns: 2_500 },
  );
  expect(ids).toBeGreaterThan(50_000);
  for (const text of SAMPLES) expect([text, await idsOf(text)]).toEqual([text, expectedIds(text)]);
}, 120_000);

test('a limited reading keeps that many ids and the words they belong to, and counts all', async () => {
  const text = 'the quick brown fox jumps over photosynthetically lazy dogs';
  const all = await idsOf(text);
  for (let maxTokens = 0; maxTokens <= all.length + 1; maxTokens++) {
    const { kept, fullTokens } = await reader.read(text, { maxTokens, yieldIfDue });
    expect(fullTokens).toBe(all.length);
    expect(kept.ids).toEqual(all.slice(0, maxTokens));
    const ofWords = kept.words.flatMap((word) => word.ids);
    expect(ofWords.slice(0, maxTokens)).toEqual(kept.ids);
    expect(kept.words.slice(0, -1).flatMap((word) => word.ids).length).toBeLessThan(Math.max(1, maxTokens));
  }
});

test('windows hold all ids in order, within their limit', async () => {
  const text = 'the quick brown fox jumps over photosynthetically lazy dogs 光合作用は植物の葉で起こる';
  const all = await idsOf(text);
  for (const maxTokens of [1, 2, 5, 9, 100]) {
    const windows = await reader.readWindows(text, { maxTokens, yieldIfDue });
    expect(windows.flatMap((window) => window.ids)).toEqual(all);
    for (const { ids } of windows) expect(ids.length).toBeLessThanOrEqual(maxTokens);
  }
  expect(await reader.readWindows('', { maxTokens: 5, yieldIfDue })).toEqual([{ ids: [], words: [] }]);
});
