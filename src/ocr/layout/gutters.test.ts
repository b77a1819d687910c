import { expect, it } from 'vitest';
import { createGutters } from './gutters.ts';
import type { Segment } from './segments.ts';

const line = (text: string, left: number, top: number, width = 300, size = 20): Segment => {
  const box = { left, top, right: left + width, bottom: top + 20 };
  return { box, size, words: [{ text, box, confidence: 0.9 }] };
};
const column = (name: string, left: number, top: number, count: number, pitch = 26) =>
  Array.from({ length: count }, (_, at) => line(`${name}${at}`, left, top + at * pitch));
const names = (lines: readonly Segment[]) => lines.map(({ words }) => words[0]!.text);

it('finds columns whose lines are not level, of other lengths', () => {
  const left = column('left', 100, 200, 12);
  const right = column('right', 440, 213, 6, 31);
  const found = createGutters().longest([
    line('title', 150, 100, 500),
    ...left,
    ...right,
    line('foot', 300, 700, 200),
  ])!;
  expect(names(found.left)).toEqual(names(left));
  expect(names(found.right)).toEqual(names(right));
  expect(names(found.above)).toEqual(['title']);
  expect(names(found.below)).toEqual(['foot']);
});

it('leaves a heading below columns to what comes after them', () => {
  const heading = line('heading', 100, 500, 200, 30);
  const found = createGutters().longest([...column('left', 100, 100, 8), ...column('right', 440, 100, 8), heading])!;
  expect(names(found.below)).toEqual(['heading']);
});

it('finds none in lines that go across', () => {
  expect(createGutters().longest(column('line', 100, 100, 9))).toBeUndefined();
});
