/** Encodings of vectors in dialects whose vectors may be 8-bit integers. */
import { asBase64, asBits } from '#models/index.ts';
import { vectorJson } from './vectors.ts';

export const VECTOR_TYPES = ['float', 'int8', 'uint8', 'binary', 'ubinary', 'base64'] as const;
export type VectorType = (typeof VECTOR_TYPES)[number];

const MAX_INT8 = 127;
/** Difference between an unsigned and a signed byte. */
const OFFSET = 128;

/** Scales the components of a vector of length 1, which are between -1 and 1. */
const int8Of = (vector: Float32Array): number[] =>
  Array.from(vector, (value) => Math.round(Math.min(Math.max(value, -1), 1) * MAX_INT8) || 0);

/** The vector as JSON. */
export function encodeVector(vector: Float32Array, type: VectorType): string {
  switch (type) {
    case 'float':
      return vectorJson(vector);
    case 'int8':
      return JSON.stringify(int8Of(vector));
    case 'uint8':
      return JSON.stringify(int8Of(vector).map((value) => value + OFFSET));
    case 'binary':
      return JSON.stringify(Array.from(asBits(vector), (byte) => byte - OFFSET));
    case 'ubinary':
      return JSON.stringify(Array.from(asBits(vector)));
    case 'base64':
      return `"${asBase64(vector)}"`;
  }
}
