/** Vectors as they are kept: a byte a number with one scale, and their signs as bits for a quick look at all of them. */

const SCALE_BYTES = 4;

/** A unit vector's direction: a scale (float, little-endian) and a signed byte a number. The zero vector is all zeros. */
export function encode(vector: Float32Array): Uint8Array {
  let largest = 0;
  let squares = 0;
  for (const value of vector) {
    largest = Math.max(largest, Math.abs(value));
    squares += value * value;
  }
  const code = new Uint8Array(SCALE_BYTES + vector.length);
  if (!(largest > 0) || !Number.isFinite(squares)) return code;
  new DataView(code.buffer).setFloat32(0, largest / 127 / Math.sqrt(squares), true);
  for (let at = 0; at < vector.length; at++) code[SCALE_BYTES + at] = Math.round((vector[at]! / largest) * 127);
  return code;
}

export const codeBytes = (dimensions: number): number => SCALE_BYTES + dimensions;

/** The direction of a kept vector, in whole numbers. */
export const valuesOf = (code: Uint8Array): Int8Array =>
  new Int8Array(code.buffer, code.byteOffset + SCALE_BYTES, code.length - SCALE_BYTES);

/** The cosine of a unit vector with a kept one. */
export function similarity(query: Float32Array, code: Uint8Array): number {
  const scale = new DataView(code.buffer, code.byteOffset).getFloat32(0, true);
  const bytes = valuesOf(code);
  const length = Math.min(query.length, bytes.length);
  let sum = 0;
  for (let at = 0; at < length; at++) sum += query[at]! * bytes[at]!;
  return sum * scale;
}

/** A unit vector; zero stays zero. */
export function unit(vector: Float32Array): Float32Array {
  const length = Math.sqrt(vector.reduce((sum, value) => sum + value * value, 0));
  return length > 0 && Number.isFinite(length)
    ? vector.map((value) => value / length)
    : new Float32Array(vector.length);
}

/** The signs of `read(at)`, 32 a word. */
export function signBits(into: Uint32Array, from: number, dimensions: number, read: (at: number) => number): void {
  for (let at = 0; at < dimensions; at++) if (read(at) > 0) into[from + (at >>> 5)]! |= 1 << (at & 31);
}

export function bitsOfCode(into: Uint32Array, from: number, code: Uint8Array): void {
  signBits(into, from, code.length - SCALE_BYTES, (at) => (code[SCALE_BYTES + at]! << 24) >> 24);
}
