/** Image and audio inputs of a graph, and the vectors it returns for them. */
import { writePlanes } from '../media/picture-rule.ts';
import { framesOf } from '../media/sound.ts';
import type { AudioSpec, ImageSpec, RawOutput } from './messages.ts';
import type { GraphOutput } from './pooling.ts';
import { unit } from './pooling.ts';

export interface FloatInput {
  readonly data: Float32Array;
  readonly dims: readonly number[];
}

/** Tensor names in the hub's exports, in order of preference: the projected vector before the pooled state. */
export const IMAGE_INPUTS = ['pixel_values'];
export const AUDIO_INPUTS = ['input_features'];
export const IMAGE_VECTORS = ['image_embeds', 'image_embeddings', 'pooler_output'];
export const AUDIO_VECTORS = ['audio_embeds', 'audio_embeddings', 'pooler_output'];

/** Shape: batch x 3 x height x width. */
export function pictureInput(pictures: readonly Uint8Array[], { rule }: Pick<ImageSpec, 'rule'>): FloatInput {
  const size = 3 * rule.width * rule.height;
  const data = new Float32Array(pictures.length * size);
  for (const [at, rgb] of pictures.entries()) {
    if (rgb.length !== size) throw new Error('the image does not match the input size of the model');
    writePlanes(rgb, rule, data, at * size);
  }
  return { data, dims: [pictures.length, 3, rule.height, rule.width] };
}

/** Shape: batch x 1 x frames x bands. */
export function soundInput(sounds: readonly Float32Array[], { rule }: Pick<AudioSpec, 'rule'>): FloatInput {
  const frames = framesOf(rule);
  const size = frames * rule.bands;
  const data = new Float32Array(sounds.length * size);
  for (const [at, features] of sounds.entries()) {
    if (features.length !== size) throw new Error('the sound does not match the input size of the model');
    data.set(features, at * size);
  }
  return { data, dims: [sounds.length, 1, frames, rule.bands] };
}

/** Returns one vector per input. Throws an Error for an unexpected shape or a number that is not finite. */
export function vectorsOf({ data, dims }: GraphOutput, count: number, normalizes: boolean): RawOutput[] {
  if (dims.length !== 2 || dims[0] !== count)
    throw new Error(`the graph returned the unexpected shape ${dims.join(' x ')}`);
  const size = dims[1]!;
  if (!data.every(Number.isFinite)) throw new Error('the graph returned numbers that are not finite');
  return Array.from({ length: count }, (_, at) => ({
    values: unit(data.slice(at * size, (at + 1) * size), size, normalizes),
    rows: 1,
  }));
}
