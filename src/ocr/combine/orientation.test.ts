import { describe, expect, it } from 'vitest';
import type { Corners } from '../engines/pp-ocr/picture.ts';
import type { OcrLine } from '../hocr.ts';
import { orientationOf } from './orientation.ts';

/** Ten lines below each other, or beside each other if they are tall. */
const linesOf = (tall = false): Corners[] =>
  Array.from({ length: 10 }, (_, at) => {
    const [left, top] = tall ? [at * 40, 0] : [0, at * 40];
    const [right, bottom] = tall ? [left + 30, 400] : [400, top + 30];
    return {
      topLeft: { x: left, y: top },
      topRight: { x: right, y: top },
      bottomRight: { x: right, y: bottom },
      bottomLeft: { x: left, y: bottom },
    };
  });

/** The turn for which the corners of a box are in this order. */
function turnOf({ topLeft, topRight }: Corners): number {
  if (topLeft.y === topRight.y) return topLeft.x < topRight.x ? 0 : 180;
  return topLeft.y > topRight.y ? 90 : 270;
}

/** Reads each line with the confidence of the orientation in which it is read, and counts the lines. */
function readerWith(confidences: Record<number, number>) {
  const read: number[] = [];
  return {
    read,
    lines: async (boxes: readonly Corners[]) =>
      boxes.map((box): OcrLine => {
        const turn = turnOf(box);
        read.push(turn);
        const place = { left: 0, top: 0, right: 400, bottom: 30 };
        return { box: place, size: 20, words: [{ text: `${turn}`, box: place, confidence: confidences[turn]! }] };
      }),
  };
}

describe('the orientation of a page', () => {
  it.each<[string, boolean, Record<number, number>, number, number[]]>([
    ['upright', false, { 0: 0.97, 180: 0.4 }, 0, [0, 0, 0]],
    ['upside down', false, { 0: 0.5, 180: 0.97 }, 180, [0, 0, 0, 180, 180, 180]],
    ['on its side', true, { 90: 0.97, 270: 0.5 }, 90, [90, 90, 90]],
    ['on its other side', true, { 90: 0.6, 270: 0.95 }, 270, [90, 90, 90, 270, 270, 270]],
  ])('%s is seen in the first lines', async (_, tall, confidences, turn, expected) => {
    const { read, lines } = readerWith(confidences);
    expect(await orientationOf(linesOf(tall), { turn: 0, read: lines })).toMatchObject({
      turn,
      confidence: expect.closeTo(confidences[turn]!),
    });
    expect(read).toEqual(expected);
  });

  it('follows from more lines if the first are not clear', async () => {
    const { read, lines } = readerWith({ 0: 0.9, 180: 0.5 });
    expect(await orientationOf(linesOf(), { turn: 0, read: lines })).toMatchObject({ turn: 0 });
    expect(read).toEqual([...Array(9).fill(0), ...Array(6).fill(180)]);
    const unclear = readerWith({ 0: 0.6, 180: 0.65 });
    expect(await orientationOf(linesOf(), { turn: 0, read: unclear.lines })).toMatchObject({ turn: 0 });
    const clearer = readerWith({ 0: 0.6, 180: 0.8 });
    expect(await orientationOf(linesOf(), { turn: 0, read: clearer.lines })).toMatchObject({ turn: 180 });
  });

  it.each([
    ['lie', false, { x: 360, y: 30 }],
    ['stand', true, { x: 30, y: 360 }],
  ])('follows from the start of lines that %s', async (_, tall, corner) => {
    const boxes: Corners[] = [];
    const { lines } = readerWith({ 0: 0.97, 90: 0.97 });
    await orientationOf(linesOf(tall).slice(0, 1), {
      turn: 0,
      read: (some) => {
        boxes.push(...some);
        return lines(some);
      },
    });
    const corners = Object.values(boxes[0]!);
    expect(Math.max(...corners.map(({ x }) => x))).toBe(corner.x);
    expect(Math.max(...corners.map(({ y }) => y))).toBe(corner.y);
  });

  it('is that of the picture as it was given, however the image has been turned', async () => {
    const { lines } = readerWith({ 0: 0.97, 180: 0.4 });
    expect(await orientationOf(linesOf(), { turn: 90, read: lines })).toMatchObject({ turn: 90 });
    const inverse = readerWith({ 0: 0.4, 180: 0.97 });
    expect(await orientationOf(linesOf(), { turn: 270, read: inverse.lines })).toMatchObject({ turn: 90 });
  });

  it('is upright without lines', async () => {
    const { lines } = readerWith({});
    expect(await orientationOf([], { turn: 0, read: lines })).toEqual({ turn: 0, confidence: 0, text: '' });
  });
});
