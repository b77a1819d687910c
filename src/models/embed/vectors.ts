/** What happens to a vector after the model: cut, normalised, encoded (contract of the model host, 5.7 and 5.8). */
import os from 'node:os';
import { floatsAsText } from './float-text.ts';

export const EMBEDDING_TYPES = ['float', 'base64', 'binary', 'ubinary'] as const;
export type EmbeddingType = (typeof EMBEDDING_TYPES)[number];

export interface Finish {
  /** The first so many numbers are kept. */
  readonly dimensions: number;
  /** Whether what is kept gets the length 1. A zero vector stays zero. */
  readonly normalized: boolean;
}

/** A new vector, or the same one when there is nothing to do; what is given is never written to. */
export function finishVector(values: Float32Array, { dimensions, normalized }: Finish): Float32Array {
  const kept = dimensions < values.length ? values.subarray(0, dimensions) : values;
  return normalized ? normalise(kept) : kept;
}

/** Whether every number is zero: such a vector has no direction, and a cosine with it is undefined. */
export const isZero = (values: Float32Array): boolean => values.every((value) => value === 0);

/** The vector divided by its length, summed in double precision. */
export function normalise(values: Float32Array): Float32Array {
  let squares = 0;
  for (let at = 0; at < values.length; at++) squares += values[at]! * values[at]!;
  if (squares === 0) return values;
  const length = Math.sqrt(squares);
  const unit = new Float32Array(values.length);
  for (let at = 0; at < values.length; at++) unit[at] = values[at]! / length;
  return unit;
}

/**
 * The vector as JSON text: of one type, an array or a base64 string; of several, an object of them by type. Types that
 * are named twice count once; there is at least one.
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
      // Not the two's complement of the byte.
      return `[${Array.from(asBits(values), (byte) => byte - 128).join(',')}]`;
  }
}

/** The single-precision numbers, little-endian. */
export function asBase64(values: Float32Array): string {
  const bytes = Buffer.from(values.buffer, values.byteOffset, values.byteLength);
  return (os.endianness() === 'LE' ? bytes : Buffer.from(bytes).swap32()).toString('base64');
}

/** A bit for each number, 1 where it is above zero, the first one highest; bits to spare are 0. */
export function asBits(values: Float32Array): Uint8Array {
  const bytes = new Uint8Array(Math.ceil(values.length / 8));
  for (let at = 0; at < values.length; at++) {
    if (values[at]! > 0) bytes[at >> 3]! |= 0x80 >> (at & 7);
  }
  return bytes;
}
