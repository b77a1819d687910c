import { expect, it } from 'vitest';
import type { RawPiece } from './drawn-content.ts';
import { withVerticalText } from './vertical.ts';

const SIZE = 10;

const piece = (text: string, x0: number, y: number, angle = 0): RawPiece => ({
  ...{ text, x0, x1: x0 + SIZE * text.length, y, angle, size: SIZE },
  style: { bold: false, italic: false, mono: false, weight: 400 },
  ...{ spaced: false, rightToLeft: false, mark: null, artifact: false, color: '#000', opacity: 1, painted: true },
  ...{ clip: { x0: 0, y0: 0, x1: 600, y1: 800 }, order: 0 },
});

/** Characters one below the other. */
const column = (text: string, x: number, top: number, step = 12): RawPiece[] =>
  [...text].map((sign, at) => piece(sign, x, top + at * step));

it('turns columns of characters, with the short end of a paragraph', () => {
  const turned = withVerticalText([...column('縦書きの文章です', 200, 100), ...column('右。', 180, 100)]);
  expect(new Set(turned.map(({ angle }) => angle))).toEqual(new Set([90]));
  // The baseline of a column is left of its middle, and characters begin at their top.
  expect(turned[0]!.x0).toBeCloseTo(201.5);
  expect(turned[0]!.y).toBeCloseTo(91.2);
  expect(turned[1]!.y).toBeCloseTo(103.2);
});

it('keeps the order of characters whose distances are uneven', () => {
  const places = [100, 100, 97, 112].map((y, at) => piece('縦書きの'[at]!, 200, y));
  const tops = withVerticalText(places).map(({ y }) => y);
  expect(tops).toEqual(tops.toSorted((one, other) => one - other));
});

it('turns them further on a page that is turned already', () => {
  const pieces = [...'縦書きの文'].map((sign, at) => piece(sign, 100 + at * 12, 300, 270));
  expect(withVerticalText(pieces)[0]!.angle).toBe(360);
});

it('leaves lines, and columns among lines, as they are', () => {
  const lines = Array.from({ length: 5 }, (_, at) => piece('横書きの文章です', 50, 100 + 14 * at));
  const label = column('合計金額', 20, 100);
  expect(withVerticalText([...lines, ...label])).toEqual([...lines, ...label]);
  const signs = [...'横書きの文章'].map((sign, at) => piece(sign, 50 + 14 * at, 100));
  expect(withVerticalText(signs)).toEqual(signs);
});
