/**
 * Post-processing of vectors: truncation, normalization and encoding (docs/reference/wire/models.md, Vectors and
 * Encodings).
 */
import os from 'node:os';
import { floatsAsText } from './float-text.ts';

export const EMBEDDING_TYPES = ['float', 'base64', 'binary', 'ubinary'] as const;
export type EmbeddingType = (typeof EMBEDDING_TYPES)[number];

export interface Finish {
  /** Number of components to retain from the start of the vector. */
  readonly dimensions: number;
  /** Whether the truncated vector is scaled to length 1. A zero vector stays zero. */
  readonly normalized: boolean;
}

/** Never modifies `values`; returns the same array if nothing changes. */
export function finishVector(values: Float32Array, { dimensions, normalized }: Finish): Float32Array {
  const truncated = dimensions < values.length ? values.subarray(0, dimensions) : values;
  return normalized ? normalize(truncated) : truncated;
}

/** A zero vector has no direction, so its cosine with any vector is undefined. */
export const isZero = (values: Float32Array): boolean => values.every((value) => value === 0);

/** Scales the vector to unit length. Its length is computed in double precision. */
export function normalize(values: Float32Array): Float32Array {
  let squares = 0;
  for (let at = 0; at < values.length; at++) squares += values[at]! * values[at]!;
  if (squares === 0) return values;
  const length = Math.sqrt(squares);
  const unit = new Float32Array(values.length);
  for (let at = 0; at < values.length; at++) unit[at] = values[at]! / length;
  return unit;
}

/**
 * Encodes the vector as JSON text. One type gives an array or a base64 string; several types give an object keyed by
 * type. Duplicate types are ignored; `types` must not be empty.
 */
export function vectorAsJson(values: Float32Array, types: readonly EmbeddingType[]): string {
  const distinct = [...new Set(types)];
  if (distinct.length === 1) return encode(values, distinct[0]!);
  return `{${distinct.map((type) => `"${type}":${encode(values, type)}`).join(',')}}`;
}

function encode(values: Float32Array, type: EmbeddingType): string {
  switch (type) {
    case 'float':
      return `[${floatsAsText(values)}]`;
    case 'base64':
      return `"${asBase64(values)}"`;
    case 'ubinary':
      return `[${asBits(values).join(',')}]`;
    case 'binary':
      // The format subtracts 128, which is different from the two's complement of the byte.
      return `[${Array.from(asBits(values), (byte) => byte - 128).join(',')}]`;
  }
}

/** Encodes the numbers as base64 of little-endian single-precision values. */
export function asBase64(values: Float32Array): string {
  const bytes = Buffer.from(values.buffer, values.byteOffset, values.byteLength);
  return (os.endianness() === 'LE' ? bytes : Buffer.from(bytes).swap32()).toString('base64');
}

/**
 * Encodes one bit per number, which is set if the number is positive. The first number is the highest bit; unused bits
 * are 0.
 */
export function asBits(values: Float32Array): Uint8Array {
  const bytes = new Uint8Array(Math.ceil(values.length / 8));
  for (let at = 0; at < values.length; at++) {
    if (values[at]! > 0) bytes[at >> 3]! |= 0x80 >> (at & 7);
  }
  return bytes;
}
