import { describe, expect, it } from 'vitest';
import { type Preparation, sourceBox } from './coordinates.ts';

const as = (given: Partial<Preparation>): Preparation => ({
  source: { width: 200, height: 100 },
  upright: { width: 200, height: 100 },
  turn: 0,
  scale: 1,
  skew: 0,
  made: { width: 200, height: 100 },
  ...given,
});
const box = (left: number, top: number, right: number, bottom: number) => ({ left, top, right, bottom });

describe('the way back to the picture as it was sent', () => {
  it.each([
    ['as it was', as({}), box(10, 20, 30, 40)],
    ['made smaller before', as({ source: { width: 400, height: 200 } }), box(20, 40, 60, 80)],
    ['enlarged', as({ scale: 2, made: { width: 400, height: 200 } }), box(5, 10, 15, 20)],
    ['upside down', as({ turn: 180 }), box(170, 60, 190, 80)],
    // A corner at x, y was moved to 100 - y, x.
    ['turned by a quarter', as({ turn: 90, made: { width: 100, height: 200 } }), box(20, 70, 40, 90)],
    ['turned by three', as({ turn: 270, made: { width: 100, height: 200 } }), box(160, 10, 180, 30)],
  ])('%s', (_, preparation, expected) => {
    expect(sourceBox(box(10, 20, 30, 40), preparation)).toEqual(expected);
  });

  it('straightened: the middle stays, what was level lies aslant', () => {
    const preparation = as({ skew: 10, made: { width: 220, height: 140 } });
    const around = sourceBox(box(110, 70, 110, 70), preparation);
    expect(around).toEqual(box(100, 50, 100, 50));
    // A point 50 to the right of the middle, rotated back by 10 degrees: it is further up and to the left.
    expect(sourceBox(box(160, 70, 160, 70), preparation)).toEqual(box(149, 41, 149, 41));
  });

  it('never leaves the picture', () => {
    expect(sourceBox(box(-50, -50, 500, 500), as({}))).toEqual(box(0, 0, 200, 100));
  });
});
