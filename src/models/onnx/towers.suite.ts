/**
 * Small models with one encoder for texts and another for pictures or sound, with fixed weights. They are available as
 * graphs for the runtime and as plain float64 arithmetic; the two share only the weights.
 */
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { PictureRule } from '../media/picture-rule.ts';
import { clipRule } from '../media/picture-rule.ts';
import { CLAP_RULE, framesOf } from '../media/sound.ts';
import type { EmbeddingRow, Runs } from '../registry/catalogue.ts';
import { createGraph, type Graph } from './onnx-file.suite.ts';
import { TOKENIZER, TOKENIZER_CONFIG, testEmbeddingRow, VOCABULARY } from './test-model.suite.ts';

export const SIZE = 16;
export const PATCH = 4;
const PICTURE = 8;
export const RULE: PictureRule = clipRule(PICTURE);
const BANDS = CLAP_RULE.bands;
const FRAMES = framesOf(CLAP_RULE);

/** Generates numbers between -0.5 and 0.5 from a seed. */
function weights(count: number, seed: number): Float32Array {
  let state = seed;
  return Float32Array.from({ length: count }, () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32 - 0.5;
  });
}
const WORDS = weights(VOCABULARY.length * SIZE, 1);
const PATCHES = weights(SIZE * 3 * PATCH * PATCH, 2);
const BAND_WEIGHTS = weights(BANDS * SIZE, 3);

/** Sums the vectors of a text's tokens; `masked` applies the attention mask. */
function textTower(graph: Graph, output: string, masked: boolean): void {
  const ids = graph.input('input_ids', 'int64', ['batch', 'tokens']);
  const states = graph.node('Gather', [graph.tensor('words', [VOCABULARY.length, SIZE], WORDS), ids]);
  const axis = graph.tensor('token_axis', [1], BigInt64Array.of(1n));
  let kept = states;
  if (masked) {
    const mask = graph.input('attention_mask', 'int64', ['batch', 'tokens']);
    const float = graph.node('Cast', [mask], { to: 1 });
    const last = graph.node('Unsqueeze', [float, graph.tensor('last', [1], BigInt64Array.of(2n))]);
    kept = graph.node('Mul', [states, last]);
  }
  graph.output(output, graph.node('Tanh', [graph.node('ReduceSum', [kept, axis], { keepdims: 0 })]), ['batch', SIZE]);
}

/** Computes the mean over all patches. */
function imageTower(graph: Graph, output: string): void {
  const pixels = graph.input('pixel_values', 'float', ['pictures', 3, PICTURE, PICTURE]);
  const kernel = graph.tensor('patches', [SIZE, 3, PATCH, PATCH], PATCHES);
  const patches = graph.node('Conv', [pixels, kernel], { kernel_shape: [PATCH, PATCH], strides: [PATCH, PATCH] });
  const mean = graph.node('ReduceMean', [graph.node('Tanh', [patches])], { axes: [2, 3], keepdims: 0 });
  graph.output(output, mean, ['pictures', SIZE]);
}

function audioTower(graph: Graph, output: string): void {
  const sound = graph.input('input_features', 'float', ['sounds', 1, FRAMES, BANDS]);
  const bands = graph.node('ReduceMean', [sound], { axes: [1, 2], keepdims: 0 });
  const weighted = graph.node('MatMul', [bands, graph.tensor('weighted', [BANDS, SIZE], BAND_WEIGHTS)]);
  graph.output(output, weighted, ['sounds', SIZE]);
}

function fileOf(...towers: ((graph: Graph) => void)[]): Buffer {
  const graph = createGraph();
  for (const tower of towers) tower(graph);
  return graph.bytes();
}

export type Family = 'clip' | 'siglip' | 'one graph' | 'clap';

/** Writes a model folder in the hub's layout, and returns its row. */
export async function writeTowers(folder: string, family: Family, given: Partial<EmbeddingRow> = {}) {
  await mkdir(path.join(folder, 'onnx'), { recursive: true });
  const write = (name: string, content: string | Uint8Array) => writeFile(path.join(folder, name), content);
  await write('tokenizer.json', JSON.stringify(TOKENIZER));
  await write('tokenizer_config.json', JSON.stringify(TOKENIZER_CONFIG));
  const image = { file: 'onnx/vision_model.onnx', rule: RULE, tokens: (PICTURE / PATCH) ** 2 };
  let runs: Extract<Runs, { on: 'onnx' }> = { on: 'onnx', folder, file: 'onnx/text_model.onnx' };
  if (family === 'one graph') {
    await write(
      'onnx/model.onnx',
      fileOf(
        (graph) => textTower(graph, 'text_embeddings', true),
        (graph) => imageTower(graph, 'image_embeddings'),
      ),
    );
    runs = { ...runs, file: 'onnx/model.onnx', towers: { image: { ...image, file: 'onnx/model.onnx' } } };
  } else {
    const names = family === 'siglip' ? ['pooler_output', 'pooler_output'] : ['text_embeds', 'image_embeds'];
    await write(
      'onnx/text_model.onnx',
      fileOf((graph) => textTower(graph, names[0]!, family !== 'siglip')),
    );
    if (family === 'clap') {
      await write(
        'onnx/audio_model.onnx',
        fileOf((graph) => audioTower(graph, 'audio_embeds')),
      );
      runs = { ...runs, towers: { audio: { file: 'onnx/audio_model.onnx', rule: CLAP_RULE, tokens: 64 } } };
    } else {
      await write(
        'onnx/vision_model.onnx',
        fileOf((graph) => imageTower(graph, names[1]!)),
      );
      // The configuration files are in the graph's folder, as in the hub's exports.
      const { mean, deviation } = RULE;
      const config = { size: { shortest_edge: PICTURE }, crop_size: PICTURE, image_mean: mean, image_std: deviation };
      await write('preprocessor_config.json', JSON.stringify(config));
      const { rule, ...bare } = image;
      runs = { ...runs, towers: { image: bare }, ...(family === 'siglip' && { textTokens: 12 }) };
    }
  }
  return testEmbeddingRow({
    id: family.replace(' ', '-'),
    hub: '',
    kind: 'omni-v5',
    pooling: 'none',
    dimensions: SIZE,
    runs,
    ...given,
  });
}

/** The vector of a text's tokens, including special tokens and padding. */
export function textVector(pieces: readonly string[]): number[] {
  return Array.from({ length: SIZE }, (_, at) =>
    Math.tanh(pieces.reduce((sum, piece) => sum + WORDS[VOCABULARY.indexOf(piece) * SIZE + at]!, 0)),
  );
}

/** The vector of a picture, as bytes in the size that the model expects. */
export function imageVector(rgb: ArrayLike<number>): number[] {
  const { mean, deviation } = RULE;
  const side = PICTURE / PATCH;
  return Array.from({ length: SIZE }, (_, out) => {
    let sum = 0;
    for (let patch = 0; patch < side * side; patch++) {
      let value = 0;
      for (let channel = 0; channel < 3; channel++)
        for (let y = 0; y < PATCH; y++)
          for (let x = 0; x < PATCH; x++) {
            const row = Math.floor(patch / side) * PATCH + y;
            const column = (patch % side) * PATCH + x;
            const byte = rgb[(row * PICTURE + column) * 3 + channel]!;
            const weight = PATCHES[((out * 3 + channel) * PATCH + y) * PATCH + x]!;
            value += weight * ((byte / 255 - mean[channel]!) / deviation[channel]!);
          }
      sum += Math.tanh(value);
    }
    return sum / (side * side);
  });
}

/** The vector of the features of a sound window. */
export function audioVector(features: ArrayLike<number>): number[] {
  return Array.from({ length: SIZE }, (_, out) => {
    let sum = 0;
    for (let frame = 0; frame < FRAMES; frame++)
      for (let band = 0; band < BANDS; band++)
        sum += (features[frame * BANDS + band]! * BAND_WEIGHTS[band * SIZE + out]!) / FRAMES;
    return sum;
  });
}
