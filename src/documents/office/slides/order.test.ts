import fc from 'fast-check';
import { expect, it } from 'vitest';
import { type PlacedObject, readingOrder } from './order.ts';

/** One box per line: `name left top width height`. */
const place = (lines: string): PlacedObject<string>[] =>
  lines
    .trim()
    .split('\n')
    .map((line) => {
      const [item, left, top, width, height] = line.trim().split(' ');
      if (left === undefined) return { item: item!, box: undefined };
      return { item: item!, box: { left: +left, top: +top!, width: +width!, height: +height! } };
    });
const order = (lines: string) => readingOrder(place(lines)).join(' ');

it('goes down when the file is upside down', () => {
  expect(order('c 0 20 10 5\nb 0 10 10 5\na 0 0 10 5')).toBe('a b c');
});

it('reads cards by rows when they were made so', () => {
  expect(order('a 0 0 4 4\nb 5 0 4 4\nc 0 5 4 4\nd 5 5 4 4')).toBe('a b c d');
});

it('reads cards by columns when they were made so', () => {
  expect(order('a 0 0 4 4\nb 0 5 4 4\nc 5 0 4 4\nd 5 5 4 4')).toBe('a b c d');
});

it('keeps columns under a title apart, whichever was made first', () => {
  expect(order('head2 5 3 4 1\ntext2 5 5 4 4\nhead1 0 3 4 1\ntext1 0 5 4 4\ntitle 0 0 9 2')).toBe(
    'title head1 text1 head2 text2',
  );
});

it('leaves what overlaps in the order of the file', () => {
  expect(order('b 1 1 8 8\na 0 0 8 8')).toBe('b a');
});

it('forgives boxes that reach a little into one another', () => {
  expect(order('b 0 9.5 10 10\na 0 0 10 10')).toBe('a b');
});

it('leaves what has no place behind what came before it', () => {
  expect(order('x\nb 0 10 4 4\ny\na 0 0 4 4')).toBe('a x b y');
});

it('loses nothing and says nothing twice', () => {
  const number = fc.integer({ min: -5, max: 30 });
  const box = fc.option(fc.record({ left: number, top: number, width: number, height: number }), { nil: undefined });
  fc.assert(
    fc.property(fc.array(box, { maxLength: 250 }), (boxes) => {
      const found = readingOrder(boxes.map((one, item) => ({ item, box: one })));
      expect(found.sort((one, other) => one - other)).toEqual(boxes.map((_, at) => at));
    }),
    { seed: 8, numRuns: 200 },
  );
});
