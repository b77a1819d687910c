/** Input tensors of a graph, built from a batch of texts, images or sounds, and the names of its tensors. */

import { writePlanes } from '../media/picture-rule.ts';
import { framesOf } from '../media/sound.ts';
import type { AudioSpec, ImageSpec, Sequence } from './messages.ts';

/** int64 values as a row-major matrix, or one scalar if `dims` is empty. */
export interface Input {
  readonly data: BigInt64Array;
  readonly dims: readonly number[];
}

export interface GraphInput {
  readonly name: string;
  /** Number of dimensions; undefined if the graph does not declare it. */
  readonly rank: number | undefined;
}

/** Throws an Error that names an unknown input. */
export function inputsOf(
  graph: readonly GraphInput[],
  batch: readonly Sequence[],
  padId: number,
): Record<string, Input> {
  const columns = Math.max(...batch.map(({ ids }) => ids.length));
  const matrix = (value: (sequence: Sequence, at: number) => number, padding: number): Input => {
    const data = new BigInt64Array(batch.length * columns);
    if (padding !== 0) data.fill(BigInt(padding));
    for (const [row, sequence] of batch.entries())
      for (let at = 0; at < sequence.ids.length; at++) data[row * columns + at] = BigInt(value(sequence, at));
    return { data, dims: [batch.length, columns] };
  };
  const fill = ({ name, rank }: GraphInput): Input => {
    switch (name) {
      case 'input_ids':
        return matrix(({ ids }, at) => ids[at]!, padId);
      case 'attention_mask':
        return matrix(() => 1, 0);
      case 'token_type_ids':
        return matrix(({ types }, at) => types?.[at] ?? 0, 0);
      case 'position_ids':
        return matrix((_, at) => at, 0);
      case 'task_id': {
        const task = BigInt64Array.of(BigInt(batch[0]!.task ?? 0));
        return { data: task, dims: rank === 1 ? [1] : [] };
      }
      default:
        throw new Error(`the graph has the unsupported input ${name}`);
    }
  };
  return Object.fromEntries(graph.map((input) => [input.name, fill(input)]));
}

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
