/** Quantizes vectors to one byte per dimension with a common scale, and to sign bits for fast comparison. */

const SCALE_BYTES = 4;

/**
 * Encodes the direction of a vector: a scale (little-endian float), followed by one signed byte per dimension. All
 * zeros for the zero vector.
 */
export function quantize(vector: Float32Array): Uint8Array {
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

/** Returns the signed bytes of a quantized vector. */
export const quantizedValues = (code: Uint8Array): Int8Array =>
  new Int8Array(code.buffer, code.byteOffset + SCALE_BYTES, code.length - SCALE_BYTES);

/** Returns the cosine of a unit vector and a quantized vector. */
export function similarity(query: Float32Array, code: Uint8Array): number {
  const scale = new DataView(code.buffer, code.byteOffset).getFloat32(0, true);
  const bytes = quantizedValues(code);
  const length = Math.min(query.length, bytes.length);
  let sum = 0;
  for (let at = 0; at < length; at++) sum += query[at]! * bytes[at]!;
  return sum * scale;
}

/** Scales a vector to length 1; the zero vector is unchanged. */
export function normalize(vector: Float32Array): Float32Array {
  const length = Math.sqrt(vector.reduce((sum, value) => sum + value * value, 0));
  return length > 0 && Number.isFinite(length)
    ? vector.map((value) => value / length)
    : new Float32Array(vector.length);
}

/** Sets a bit for each position where `read(at)` is positive, 32 bits per word. */
export function signBits(into: Uint32Array, from: number, dimensions: number, read: (at: number) => number): void {
  for (let at = 0; at < dimensions; at++) if (read(at) > 0) into[from + (at >>> 5)]! |= 1 << (at & 31);
}

export function setSignBitsOfCode(into: Uint32Array, from: number, code: Uint8Array): void {
  signBits(into, from, code.length - SCALE_BYTES, (at) => (code[SCALE_BYTES + at]! << 24) >> 24);
}
