import { expect, it } from 'vitest';
import type { OcrBox, OcrPage, OcrWord } from '../hocr.ts';
import { findOverlooked, mergeReadings } from './overlooked.ts';
import { NO_RULES } from './ruling-lines.ts';

const box = (left: number, top: number, width: number): OcrBox => ({
  left,
  top,
  right: left + width,
  bottom: top + 20,
});
const word = (text: string, at: OcrBox, confidence = 0.95): OcrWord => ({ text, box: at, confidence });
const page = (...words: OcrWord[]): OcrPage => ({
  width: 800,
  height: 600,
  lines: words.map((each) => ({ box: each.box, size: 24, words: [each] })),
  rules: NO_RULES,
});
const sheetOf = (...places: OcrBox[]) => ({ picture: new Uint8Array(), places });

const team = word('Harbour', box(100, 100, 90));
const lone = box(300, 100, 12);

it('looks again at ink that stands alone beside words, and at nothing else', () => {
  const beside = box(196, 100, 12);
  const apart = box(300, 400, 12);
  const found = findOverlooked(page(team), [team.box, lone, beside, apart]);
  expect(found).toEqual([{ box: { left: 297, top: 97, right: 315, bottom: 123 }, word: undefined }]);
});

it('looks again at short words that were read without being sure', () => {
  const doubted = word('(6)', lone, 0.6);
  expect(findOverlooked(page(team, doubted), [team.box, lone])).toMatchObject([{ word: doubted }]);
  expect(findOverlooked(page(team, word('6', lone)), [team.box, lone])).toEqual([]);
});

it('takes what most readings of a piece say', () => {
  const again = findOverlooked(page(team), [lone]);
  const places = [box(0, 0, 30), box(100, 0, 30), box(200, 0, 30)];
  const read = page(word('3', box(5, 0, 20), 0.8), word('8', box(105, 0, 20), 0.9), word('3', box(205, 0, 20), 0.7));
  const { lines } = mergeReadings(page(team), again, sheetOf(...places), read);
  expect(lines.flatMap(({ words }) => words.map(({ text }) => text))).toEqual(['Harbour', '3']);
});

it('leaves a word as it was read when the second reading is not surer', () => {
  const doubted = word('8', lone, 0.8);
  const again = findOverlooked(page(team, doubted), [lone]);
  const surer = (confidence: number) =>
    mergeReadings(page(team, doubted), again, sheetOf(box(0, 0, 30)), page(word('3', box(5, 0, 20), confidence)));
  expect(surer(0.75).lines[1]!.words[0]).toMatchObject({ text: '8' });
  expect(surer(0.9).lines[1]!.words[0]).toMatchObject({ text: '3', box: lone });
});
