/** Image preprocessing of a model, taken from its catalogue row or its published `preprocessor_config.json`. */
import type { ImageFit } from '#documents/image/fit.ts';
import type { Kernel } from '#documents/image/resample.ts';
import { ownValue } from '#own-value.ts';

export interface PictureRule extends ImageFit {
  /** Per channel: (byte * rescale - mean) / deviation. */
  readonly rescale: number;
  readonly mean: readonly [number, number, number];
  readonly deviation: readonly [number, number, number];
}

/** Statistics of OpenAI's CLIP training images. */
export const CLIP_MEAN = [0.48145466, 0.4578275, 0.40821073] as const;
export const CLIP_DEVIATION = [0.26862954, 0.26130258, 0.27577711] as const;

const STANDARD: PictureRule = {
  width: 224,
  height: 224,
  resize: 'shortest',
  resizeTo: 224,
  kernel: 'bicubic',
  middle: 'floor',
  fill: 0,
  rescale: 1 / 255,
  mean: CLIP_MEAN,
  deviation: CLIP_DEVIATION,
};

export const clipRule = (size: number): PictureRule => ({ ...STANDARD, width: size, height: size, resizeTo: size });
export const siglipRule = (size: number): PictureRule => ({
  ...clipRule(size),
  resize: 'squash',
  mean: [0.5, 0.5, 0.5],
  deviation: [0.5, 0.5, 0.5],
});
/** Preprocessing with torchvision, which rounds the centre of the crop. */
export const jinaClipRule = (size: number): PictureRule => ({ ...clipRule(size), middle: 'even' });

const MAX_SIDE = 4_096;
const KERNELS: Readonly<Record<string, Kernel>> = {
  1: 'lanczos',
  2: 'bilinear',
  3: 'bicubic',
  bilinear: 'bilinear',
  bicubic: 'bicubic',
  lanczos: 'lanczos',
};

/** Throws an Error that names an unsupported option. */
export function readPictureRule(config: Readonly<Record<string, unknown>>): PictureRule {
  return config.resize_mode === undefined ? ofTransformers(config) : ofJinaClip(config);
}

/** Parses the keys used by the image processors in Hugging Face's transformers. */
function ofTransformers(config: Readonly<Record<string, unknown>>): PictureRule {
  const flag = (name: string, standard = true) => (config[name] === undefined ? standard : config[name] === true);
  if (!flag('do_resize')) throw new Error('image preprocessing without resizing is not supported');
  const kernel = kernelOf(config.resample ?? 3);
  const size = sizeOf(config.size ?? 224);
  const crop = flag('do_center_crop', config.crop_size !== undefined) ? sizeOf(config.crop_size ?? size.width) : size;
  const shortest = size.shortest !== undefined;
  if (shortest && !flag('do_center_crop', config.crop_size !== undefined))
    throw new Error('image preprocessing to variable proportions is not supported');
  if (!shortest && (crop.width !== size.width || crop.height !== size.height))
    throw new Error('image preprocessing with squashing and cropping is not supported');
  const normalizes = flag('do_normalize');
  return {
    width: crop.width,
    height: crop.height,
    resize: shortest ? 'shortest' : 'squash',
    resizeTo: size.shortest ?? size.width,
    kernel,
    middle: 'floor',
    fill: 0,
    rescale: flag('do_rescale') ? numberOf(config.rescale_factor ?? 1 / 255, 'rescale_factor') : 1,
    mean: normalizes ? tripleOf(config.image_mean, CLIP_MEAN, 'image_mean') : [0, 0, 0],
    deviation: normalizes ? tripleOf(config.image_std, CLIP_DEVIATION, 'image_std') : [1, 1, 1],
  };
}

/** Parses the keys used by jina-clip's own processor. */
function ofJinaClip(config: Readonly<Record<string, unknown>>): PictureRule {
  const size = sideOf(config.size ?? 224);
  const { resize_mode: resize } = config;
  if (resize !== 'shortest' && resize !== 'longest' && resize !== 'squash')
    throw new Error(`unsupported resize_mode ${resize}`);
  return {
    ...jinaClipRule(size),
    resize,
    kernel: kernelOf(config.interpolation ?? 'bicubic'),
    fill: numberOf(config.fill_color ?? 0, 'fill_color'),
    mean: tripleOf(config.mean ?? config.image_mean, CLIP_MEAN, 'mean'),
    deviation: tripleOf(config.std ?? config.image_std, CLIP_DEVIATION, 'std'),
  };
}

function kernelOf(value: unknown): Kernel {
  const kernel = ownValue(KERNELS, String(value));
  if (!kernel) throw new Error(`unsupported resampling ${value}`);
  return kernel;
}

function sizeOf(value: unknown): { width: number; height: number; shortest?: number } {
  if (typeof value === 'number') {
    const side = sideOf(value);
    return { width: side, height: side, shortest: side };
  }
  const { shortest_edge: shortest, width, height } = (value ?? {}) as Record<string, unknown>;
  if (shortest !== undefined) return sizeOf(shortest);
  return { width: sideOf(width), height: sideOf(height) };
}

function sideOf(value: unknown): number {
  if (typeof value === 'number' && Number.isInteger(value) && value >= 1 && value <= MAX_SIDE) return value;
  throw new Error('the image size is missing or invalid');
}

function numberOf(value: unknown, name: string): number {
  if (typeof value === 'number' && Number.isFinite(value)) return value;
  throw new Error(`${name} is not a number`);
}

function tripleOf(
  value: unknown,
  standard: readonly [number, number, number],
  name: string,
): readonly [number, number, number] {
  if (value === undefined) return standard;
  if (!Array.isArray(value) || value.length !== 3) throw new Error(`${name} must have three numbers`);
  return [numberOf(value[0], name), numberOf(value[1], name), numberOf(value[2], name)];
}

/** Writes the normalized image as red, green and blue planes, starting at `at`. */
export function writePlanes(rgb: Uint8Array, rule: PictureRule, into: Float32Array, at: number): void {
  const { rescale, mean, deviation } = rule;
  const size = rgb.length / 3;
  for (let channel = 0; channel < 3; channel++) {
    // A byte has only 256 possible values, so the results can be precomputed.
    const values = Float32Array.from(
      { length: 256 },
      (_, byte) => (byte * rescale - mean[channel]!) / deviation[channel]!,
    );
    const plane = at + channel * size;
    for (let pixel = 0; pixel < size; pixel++) into[plane + pixel] = values[rgb[pixel * 3 + channel]!]!;
  }
}
