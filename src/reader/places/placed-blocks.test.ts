import { expect, it } from 'vitest';
import { pagesOfRanges } from './page-spans.ts';
import { placeOfRange } from './placed-blocks.ts';

const BLOCKS = [
  { start: 0, end: 10, page: 1, box: { page: 1, x: 50, y: 60, width: 100, height: 12 } },
  { start: 12, end: 40, page: 1, box: { page: 1, x: 40, y: 80, width: 300, height: 30.5 } },
  { start: 42, end: 60, page: 2, box: { page: 2, x: 0, y: 0, width: 500, height: 20 } },
  { start: 62, end: 70, page: 3 },
];

it('gives a range the page on which it begins, and the box around its blocks there', () => {
  expect(placeOfRange(BLOCKS, { start: 0, end: 60 })).toEqual({
    page: 1,
    box: { page: 1, x: 40, y: 60, width: 300, height: 50.5 },
  });
  expect(placeOfRange(BLOCKS, { start: 42, end: 70 }).box).toEqual(BLOCKS[2]!.box);
  expect(placeOfRange(BLOCKS, { start: 62, end: 70 })).toEqual({ page: 3 });
  expect(placeOfRange(BLOCKS, { start: 70, end: 80 })).toEqual({});
});

it('gives each range its first and last page', () => {
  const pages = [
    { number: 1, start: 10, end: 20 },
    { number: 2, start: 22, end: 22 },
    { number: 3, start: 22, end: 30 },
  ];
  const ranges = [
    { start: 0, end: 8 },
    { start: 12, end: 25 },
    { start: 22, end: 30 },
    { start: 40, end: 50 },
  ];
  expect(pagesOfRanges(pages, ranges)).toEqual([
    [1, 1],
    [1, 3],
    [3, 3],
    [3, 3],
  ]);
});
