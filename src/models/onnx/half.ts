/** Numbers of 16 bits (IEEE 754 binary16), which some graphs take and return. JavaScript arrays of them are recent. */

const bits = new DataView(new ArrayBuffer(4));

/** Rounds to the nearest half; ties go to the even one. */
export function toHalf(value: number): number {
  bits.setFloat32(0, value);
  const word = bits.getUint32(0);
  const sign = (word >>> 16) & 0x8000;
  const exponent = ((word >>> 23) & 0xff) - 112;
  const fraction = word & 0x7fffff;
  if (exponent === 143) return sign | 0x7c00 | (fraction ? 0x200 : 0);
  if (exponent >= 31) return sign | 0x7c00;
  if (exponent <= 0) {
    if (exponent < -10) return sign;
    return sign | rounded(fraction | 0x800000, 14 - exponent);
  }
  return sign | rounded((exponent << 23) | fraction, 13);
}

/** Divides by 2 to the power of `shift`. A carry into the exponent gives the next larger number. */
function rounded(value: number, shift: number): number {
  const whole = value >>> shift;
  const rest = value & ((1 << shift) - 1);
  const half = 1 << (shift - 1);
  return rest > half || (rest === half && whole & 1) ? whole + 1 : whole;
}

export function fromHalf(half: number): number {
  const sign = half & 0x8000 ? -1 : 1;
  const exponent = (half >>> 10) & 0x1f;
  const fraction = half & 0x3ff;
  if (exponent === 0) return sign * fraction * 2 ** -24;
  if (exponent === 31) return fraction ? Number.NaN : sign * Number.POSITIVE_INFINITY;
  return sign * (1 + fraction / 1_024) * 2 ** (exponent - 15);
}
