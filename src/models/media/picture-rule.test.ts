/** Pictures as models see them: the same bytes as Pillow's, the same numbers as the published processors'. */
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { clipRule, fitPicture, jinaClipRule, readPictureRule, siglipRule, writePlanes } from './picture-rule.ts';
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

describe('a rule', () => {
  it.each(golden.middle)('cuts the middle of $width x $height ($middle) as the reference does', (asked) => {
    const rule = { ...(asked.middle === 'even' ? jinaClipRule : clipRule)(asked.size) };
    const made = fitPicture(drawnPixels(asked), rule);
    expect([made.width, made.height]).toEqual([asked.size, asked.size]);
    expect([...made.rgb]).toEqual(asked.rgb);
  });

  it('costs no more for a picture of one row', () => {
    const line = { width: 100_000, height: 1, rgb: new Uint8Array(300_000).fill(7) };
    expect(fitPicture(line, clipRule(224)).rgb.every((byte) => byte === 7)).toBe(true);
  });

  it('squashes, and fits the longer side', () => {
    const picture = drawnPixels({ width: 12, height: 6 });
    expect(fitPicture(picture, siglipRule(4)).rgb).toHaveLength(48);
    const fitted = fitPicture(picture, { ...clipRule(4), resize: 'longest', fill: 9 });
    expect([...fitted.rgb.subarray(0, 12)]).toEqual(new Array(12).fill(9));
    expect([...fitted.rgb.subarray(36)]).toEqual(new Array(12).fill(9));
    expect([...fitted.rgb.subarray(12, 36)]).not.toContain(undefined);
  });

  it('gives the numbers of the processors: a byte by 255, less the mean, by the deviation', () => {
    const rgb = Uint8Array.from([0, 128, 255, 17, 34, 51]);
    const into = new Float32Array(7);
    writePlanes(rgb, clipRule(224), into, 1);
    const [mean, deviation] = [
      [0.48145466, 0.4578275, 0.40821073],
      [0.26862954, 0.26130258, 0.27577711],
    ];
    const number = (byte: number, channel: number) => (byte / 255 - mean[channel]!) / deviation[channel]!;
    const expected = [number(0, 0), number(17, 0), number(128, 1), number(34, 1), number(255, 2), number(51, 2)];
    for (const [at, value] of expected.entries()) expect(into[at + 1]).toBeCloseTo(value, 6);
    expect(into[0]).toBe(0);
  });
});

describe('a published configuration', () => {
  it('of CLIP is read', () => {
    const config = {
      crop_size: { height: 224, width: 224 },
      do_center_crop: true,
      do_convert_rgb: true,
      do_normalize: true,
      do_rescale: true,
      do_resize: true,
      image_mean: [0.48145466, 0.4578275, 0.40821073],
      image_std: [0.26862954, 0.26130258, 0.27577711],
      resample: 3,
      rescale_factor: 1 / 255,
      size: { shortest_edge: 224 },
    };
    expect(readPictureRule(config)).toEqual(clipRule(224));
    expect(readPictureRule({ crop_size: 224, size: 224 })).toEqual(clipRule(224));
  });

  it('of SigLIP is read', () => {
    const config = {
      size: { height: 224, width: 224 },
      resample: 3,
      image_mean: [0.5, 0.5, 0.5],
      image_std: [0.5, 0.5, 0.5],
    };
    expect(readPictureRule(config)).toEqual(siglipRule(224));
  });

  it('of jina-clip is read', () => {
    const { mean, deviation } = jinaClipRule(512);
    const config = {
      size: 512,
      mean,
      std: deviation,
      resize_mode: 'shortest',
      interpolation: 'bicubic',
      fill_color: 0,
    };
    expect(readPictureRule(config)).toEqual(jinaClipRule(512));
  });

  it.each([
    [{ size: 100_000 }],
    [{ size: { shortest_edge: 224 }, do_center_crop: false }],
    [{ resample: 0 }],
    [{ image_mean: ['x', 1, 2] }],
    [{ do_resize: false }],
    [{ resize_mode: 'stretch', size: 224 }],
  ])('%j is refused', (config) => {
    expect(() => readPictureRule(config)).toThrow();
  });
});
