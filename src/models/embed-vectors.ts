/** One output as the JSON of an answer has it (contract, 5.7 and 5.8). */
import type { Output } from './backends/backend.ts';
import type { EmbedRequest } from './embed-request.ts';

export function vectorJson(values: Float32Array, { dimensions, normalized }: EmbedRequest): string {
  const cut = Float32Array.from(values.subarray(0, dimensions));
  if (normalized) {
    const norm = Math.hypot(...cut);
    if (norm) for (let i = 0; i < cut.length; i++) cut[i]! /= norm;
  }
  return JSON.stringify([...cut]);
}

export const vectorsJson = (output: Output, request: EmbedRequest): string[] =>
  Array.from({ length: output.rows }, (_, row) => {
    const size = output.values.length / output.rows;
    return vectorJson(output.values.subarray(row * size, (row + 1) * size), request);
  });
