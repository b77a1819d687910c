/** Input tensors of a graph, built from a batch of texts, images or sounds, and the names of its tensors. */
import { writePlanes } from '../media/picture-rule.ts';
import { framesOf } from '../media/sound.ts';
import type { AudioSpec, ImageSpec, Sequence } from './messages.ts';

/** A row-major array, or one scalar if `dims` is empty. The graph's own type decides how the numbers are encoded. */
export interface Input {
  readonly data: BigInt64Array | Float32Array;
  readonly dims: readonly number[];
}

export interface GraphInput {
  readonly name: string;
  readonly type: string;
  /** Dimensions that depend on the batch are names. Undefined if the graph does not declare them. */
  readonly shape: readonly (number | string)[] | undefined;
}

/** Tensor names in the hub's exports, in order of preference: the projected vector before the pooled state. */
export const IMAGE_INPUTS = ['pixel_values'];
export const AUDIO_INPUTS = ['input_features'];
export const IMAGE_VECTORS = ['image_embeds', 'image_embeddings', 'pooler_output'];
export const AUDIO_VECTORS = ['audio_embeds', 'audio_embeddings', 'pooler_output'];

/** In graphs with this input, the number of last positions for which logits are computed. */
export const LOGITS_KEPT = 'num_logits_to_keep';
const MEMORY = /^past(?:_key_values)?\./;

/** Throws an Error that names an unknown input. */
export function inputsOf(graph: readonly GraphInput[], batch: readonly Sequence[], padId: number): Map<string, Input> {
  const columns = Math.max(...batch.map(({ ids }) => ids.length));
  const matrix = (value: (sequence: Sequence, at: number) => number, padding: number): Input => {
    const data = new BigInt64Array(batch.length * columns);
    if (padding !== 0) data.fill(BigInt(padding));
    for (const [row, sequence] of batch.entries())
      for (let at = 0; at < sequence.ids.length; at++) data[row * columns + at] = BigInt(value(sequence, at));
    return { data, dims: [batch.length, columns] };
  };
  const scalar = (value: number, shape: GraphInput['shape']): Input => ({
    data: BigInt64Array.of(BigInt(value)),
    dims: shape?.length === 1 ? [1] : [],
  });
  const fill = ({ name, shape }: GraphInput): Input => {
    switch (name) {
      case 'input_ids':
        return matrix(({ ids }, at) => ids[at]!, padId);
      case 'attention_mask':
        return matrix(({ ids, attended = ids.length }, at) => (at < attended ? 1 : 0), 0);
      case 'token_type_ids':
        return matrix(({ types }, at) => types?.[at] ?? 0, 0);
      case 'position_ids':
        return matrix((_, at) => at, 0);
      case 'task_id':
        return scalar(batch[0]!.task ?? 0, shape);
      case LOGITS_KEPT:
        return scalar(1, shape);
      case 'use_cache_branch':
        return scalar(0, shape);
      default:
        if (MEMORY.test(name) && shape) return emptyMemory(shape, batch.length);
        throw new Error(`the graph has the unsupported input ${name}`);
    }
  };
  return new Map(graph.map((input) => [input.name, fill(input)]));
}

/** The keys or values of earlier tokens, of which there are none: batch x heads x 0 x size of a head. */
function emptyMemory(shape: readonly (number | string)[], batch: number): Input {
  const dims = shape.map((size, at) => (at === 0 ? batch : typeof size === 'number' && size > 0 ? size : 0));
  return { data: new Float32Array(0), dims };
}

/** Shape: batch x 3 x height x width. */
export function pictureInput(pictures: readonly Uint8Array[], { rule }: Pick<ImageSpec, 'rule'>): Input {
  const size = 3 * rule.width * rule.height;
  const data = new Float32Array(pictures.length * size);
  for (const [at, rgb] of pictures.entries()) {
    if (rgb.length !== size) throw new Error('the image does not match the input size of the model');
    writePlanes(rgb, rule, data, at * size);
  }
  return { data, dims: [pictures.length, 3, rule.height, rule.width] };
}

/** The image input for texts: no image, or zeros for a graph that reads a text and an image together. */
export function noPictures(texts: number, { rule, prompt }: ImageSpec): Input {
  const count = prompt ? texts : 0;
  return {
    data: new Float32Array(count * 3 * rule.width * rule.height),
    dims: [count, 3, rule.height, rule.width],
  };
}

/** Shape: batch x 1 x frames x bands. */
export function soundInput(sounds: readonly Float32Array[], { rule }: Pick<AudioSpec, 'rule'>): Input {
  const frames = framesOf(rule);
  const size = frames * rule.bands;
  const data = new Float32Array(sounds.length * size);
  for (const [at, features] of sounds.entries()) {
    if (features.length !== size) throw new Error('the sound does not match the input size of the model');
    data.set(features, at * size);
  }
  return { data, dims: [sounds.length, 1, frames, rule.bands] };
}
