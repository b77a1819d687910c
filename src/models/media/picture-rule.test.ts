/** Tests image preprocessing against the published configurations and the output of the published processors. */
import { describe, expect, it } from 'vitest';
import { clipRule, jinaClipRule, readPictureRule, siglipRule, writePlanes } from './picture-rule.ts';

it('returns the numbers of the published processors: byte / 255, minus the mean, divided by the deviation', () => {
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
