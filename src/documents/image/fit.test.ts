/** Fitted images have the same bytes as Pillow's. */
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { fitImage, type ImageFit } from './fit.ts';
import { type Kernel, type Pixels, resample } from './resample.ts';

interface Golden {
  readonly resized: readonly (Size & { toWidth: number; toHeight: number; kernel: Kernel; rgb: number[] })[];
  readonly middle: readonly (Size & { size: number; middle: 'floor' | 'even'; rgb: number[] })[];
}
interface Size {
  readonly width: number;
  readonly height: number;
}
const golden = JSON.parse(readFileSync(new URL('./pillow.json', import.meta.url), 'utf8')) as Golden;

/** The same numbers as `picture` in pillow.py. */
function drawnPixels({ width, height }: Size): Pixels {
  let state = BigInt(width * 1_000 + height);
  const rgb = Uint8Array.from({ length: width * height * 3 }, () => {
    state = (state * 1_103_515_245n + 12_345n) & 0x7fffffffn;
    return Number((state >> 16n) & 255n);
  });
  return { width, height, rgb };
}

describe('resampling', () => {
  it.each(golden.resized)('$width x $height to $toWidth x $toHeight, $kernel, is Pillow’s to the byte', (asked) => {
    const { toWidth: width, toHeight: height, kernel, rgb } = asked;
    const window = { left: 0, top: 0, width, height };
    expect([...resample(drawnPixels(asked), { width, height, kernel, window }).rgb]).toEqual(rgb);
  });

  it('of a window is that window of the whole', () => {
    const picture = drawnPixels({ width: 40, height: 30 });
    const size = { width: 17, height: 23, kernel: 'bicubic' } as const;
    const whole = resample(picture, { ...size, window: { left: 0, top: 0, width: 17, height: 23 } });
    const part = resample(picture, { ...size, window: { left: 3, top: 5, width: 9, height: 11 } });
    for (let row = 0; row < 11; row++) {
      const from = ((row + 5) * 17 + 3) * 3;
      expect([...part.rgb.subarray(row * 27, row * 27 + 27)]).toEqual([...whole.rgb.subarray(from, from + 27)]);
    }
  });
});

const square = (size: number): ImageFit => ({
  ...{ width: size, height: size, resize: 'shortest', resizeTo: size },
  ...{ kernel: 'bicubic', middle: 'floor', fill: 0 },
});

describe('a fitting', () => {
  it.each(golden.middle)('cuts the middle of $width x $height ($middle) as the reference does', (asked) => {
    const made = fitImage(drawnPixels(asked), { ...square(asked.size), middle: asked.middle });
    expect([made.width, made.height]).toEqual([asked.size, asked.size]);
    expect([...made.rgb]).toEqual(asked.rgb);
  });

  it('costs no more for a picture of one row', () => {
    const line = { width: 100_000, height: 1, rgb: new Uint8Array(300_000).fill(7) };
    expect(fitImage(line, square(224)).rgb.every((byte) => byte === 7)).toBe(true);
  });

  it('squashes, and fits the longer side', () => {
    const picture = drawnPixels({ width: 12, height: 6 });
    expect(fitImage(picture, { ...square(4), resize: 'squash' }).rgb).toHaveLength(48);
    const fitted = fitImage(picture, { ...square(4), resize: 'longest', fill: 9 });
    expect([...fitted.rgb.subarray(0, 12)]).toEqual(new Array(12).fill(9));
    expect([...fitted.rgb.subarray(36)]).toEqual(new Array(12).fill(9));
    expect([...fitted.rgb.subarray(12, 36)]).not.toContain(undefined);
  });
});
