/** One output as the JSON of an answer has it (contract, 5.7 and 5.8). */
import type { Output } from './backends/backend.ts';
import type { Encoding } from './embed-fields.ts';
import type { EmbedRequest } from './embed-request.ts';

export function vectorJson(values: Float32Array, { dimensions, normalized, encodings }: EmbedRequest): string {
  const cut = Float32Array.from(values.subarray(0, dimensions));
  if (normalized) {
    const norm = Math.hypot(...cut);
    if (norm) for (let i = 0; i < cut.length; i++) cut[i]! /= norm;
  }
  const one = (encoding: Encoding) => {
    if (encoding === 'float') return JSON.stringify([...cut]);
    if (encoding === 'base64') return JSON.stringify(Buffer.from(cut.buffer).toString('base64'));
    const bytes = new Uint8Array(Math.ceil(cut.length / 8));
    for (const [i, v] of cut.entries()) if (v > 0) bytes[i >> 3]! |= 128 >> (i & 7);
    return JSON.stringify([...bytes].map((b) => (encoding === 'binary' ? b - 128 : b)));
  };
  if (encodings.length === 1) return one(encodings[0]!);
  return `{${encodings.map((encoding) => `"${encoding}":${one(encoding)}`).join(',')}}`;
}

export const vectorsJson = (output: Output, request: EmbedRequest): string[] =>
  Array.from({ length: output.rows }, (_, row) => {
    const size = output.values.length / output.rows;
    return vectorJson(output.values.subarray(row * size, (row + 1) * size), request);
  });
