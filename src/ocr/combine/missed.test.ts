import { expect, it } from 'vitest';
import { missedBoxes } from './missed.ts';

const line = {
  topLeft: { x: 0, y: 0 },
  topRight: { x: 100, y: 0 },
  bottomRight: { x: 100, y: 40 },
  bottomLeft: { x: 0, y: 40 },
};
const piece = (left: number, top: number, size = 20) => ({ left, top, right: left + size, bottom: top + size });

it('finds pieces beside a line, not those in it, above it, or of another size', () => {
  const pieces = [piece(200, 10), piece(50, 10), piece(200, 90), piece(300, -20, 80), piece(400, 18, 4)];
  const found = missedBoxes([line], pieces);
  expect(found).toHaveLength(1);
  expect(found[0]!.topLeft).toEqual({ x: 193, y: 3 });
  expect(found[0]!.bottomRight).toEqual({ x: 227, y: 37 });
});
