/** Test networks for PP-OCR: they detect and read images of bars that represent three letters. */
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { createCanvas } from '@napi-rs/canvas';
import { createGraph } from '#models/onnx/onnx-file.suite.ts';

const floats = (...values: number[]) => Float32Array.from(values);

/** Writes the engine's model files to a folder. */
export async function writePpOcr(dir: string): Promise<void> {
  await writeFile(path.join(dir, 'ch_det_infer.onnx'), detectionGraph());
  await writeFile(path.join(dir, 'ch_rec_infer.onnx'), recognitionGraph());
  await writeFile(path.join(dir, 'keys.txt'), 'A\nB\nC\n');
}

/**
 * Detects dark areas and joins adjacent letters: sigmoid(10 * (ink + 1)), where ink is the darkest value within 17 x
 * 121 pixels.
 */
function detectionGraph(): Buffer {
  const graph = createGraph();
  const x = graph.input('x', 'float', [1, 3, 'h', 'w']);
  const gray = graph.node('ReduceMean', [x], { axes: [1], keepdims: 1 });
  const wide = graph.node('MaxPool', [graph.node('Neg', [gray])], { kernel_shape: [1, 121], pads: [0, 60, 0, 60] });
  const ink = graph.node('MaxPool', [wide], { kernel_shape: [17, 1], pads: [8, 0, 8, 0] });
  const shifted = graph.node('Add', [ink, graph.tensor('one', [1], floats(1))]);
  const steep = graph.node('Mul', [shifted, graph.tensor('ten', [1], floats(10))]);
  graph.output('maps', graph.node('Sigmoid', [steep]), [1, 1, 'h', 'w']);
  return graph.bytes();
}

/** Reads three letters: A is a bar in the upper half, B a bar in the lower half, and C a bar in both. */
function recognitionGraph(): Buffer {
  const graph = createGraph();
  const x = graph.input('x', 'float', ['n', 3, 48, 'w']);
  const halves = graph.node('MaxPool', [graph.node('Neg', [x])], { kernel_shape: [24, 8], strides: [24, 8] });
  const ink = graph.node('ReduceMean', [halves], { axes: [1], keepdims: 0 });
  const steps = graph.node('Transpose', [ink], { perm: [0, 2, 1] });
  const dark = graph.node('Sub', [steps, graph.tensor('level', [1], floats(0.5))]);
  const sure = graph.node('Sigmoid', [graph.node('Mul', [dark, graph.tensor('steep', [1], floats(40))])]);
  const weights = graph.tensor('weights', [2, 4], floats(-10, 10, -10, 10, -10, -10, 10, 10));
  const logits = graph.node('Add', [
    graph.node('MatMul', [sure, weights]),
    graph.tensor('bias', [4], floats(5, -5, -5, -15)),
  ]);
  graph.output('probabilities', graph.node('Softmax', [logits], { axis: 2 }), ['n', 't', 4]);
  return graph.bytes();
}

export function drawn(lines: readonly { text: string; left: number; top: number }[]): Buffer {
  const canvas = createCanvas(960, 480);
  const context = canvas.getContext('2d');
  context.fillStyle = '#fff';
  context.fillRect(0, 0, canvas.width, canvas.height);
  context.fillStyle = '#000';
  for (const { text, left, top } of lines) {
    for (const [at, letter] of [...text].entries()) {
      const [from, height] = letter === 'A' ? [0, 16] : letter === 'B' ? [20, 16] : [0, 36];
      context.fillRect(left + at * 50, top + from, 24, height);
    }
  }
  return canvas.toBuffer('image/png');
}
