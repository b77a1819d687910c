/** Fast conversion of many single-precision numbers to the shortest decimals that parse back to the same numbers. */

/** Longest text of one number, including its comma: `-1.23456789e-38,`. */
const MAX_CHARACTERS = 17;
const MINUS = 0x2d;
const DOT = 0x2e;
const ZERO = 0x30;
const COMMA = 0x2c;

/** The powers of ten that are used; all are exact as doubles. */
const POWERS = Array.from({ length: 18 }, (_, exponent) => Number(`1e${exponent}`));
/** Smaller numbers (written with an exponent) and numbers of 1 or more are rare in vectors and take the slow path. */
const SMALLEST_FAST = 1e-6;

/** Largest buffer that is reused between calls, in bytes. */
const MAX_SCRATCH = 2 ** 20;
let scratch = Buffer.alloc(0);

/** Returns numbers joined by commas, without brackets: `1.5,-0.25,0`. NaN and infinities become null, as in JSON. */
export function floatsAsText(values: Float32Array): string {
  const size = values.length * MAX_CHARACTERS;
  if (scratch.length < size) scratch = Buffer.allocUnsafe(Math.max(size, 32_768));
  const bytes = scratch;
  let at = 0;
  for (let index = 0; index < values.length; index++) {
    if (index > 0) bytes[at++] = COMMA;
    const value = values[index]!;
    const magnitude = Math.abs(value);
    if (magnitude < 1 && magnitude >= SMALLEST_FAST) {
      if (value < 0) bytes[at++] = MINUS;
      at = writeFraction(bytes, at, magnitude);
    } else {
      at += bytes.write(shortest(value), at, 'latin1');
    }
  }
  const text = bytes.toString('latin1', 0, at);
  if (scratch.length > MAX_SCRATCH) scratch = Buffer.alloc(0);
  return text;
}

/**
 * Writes a number between 1e-6 and 1. Every decimal of up to six digits survives single precision, so rounding starts
 * at six digits and adds digits until the number round-trips. Nine digits are always enough.
 */
function writeFraction(bytes: Buffer, from: number, value: number): number {
  let zeros = 0;
  while (value * POWERS[zeros + 1]! < 1) zeros++;
  let places = zeros + 6;
  let digits = Math.round(value * POWERS[places]!);
  while (Math.fround(digits / POWERS[places]!) !== value && places < zeros + 9) {
    places++;
    digits = Math.round(value * POWERS[places]!);
  }
  while (digits % 10 === 0) {
    digits /= 10;
    places--;
  }
  let at = from;
  // The number was rounded up to 1.
  if (places === 0) {
    bytes[at++] = ZERO + digits;
    return at;
  }
  bytes[at++] = ZERO;
  bytes[at++] = DOT;
  const end = at + places;
  for (let place = end - 1; place >= at; place--) {
    const tens = (digits / 10) | 0;
    bytes[place] = ZERO + digits - tens * 10;
    digits = tens;
  }
  return end;
}

function shortest(value: number): string {
  if (!Number.isFinite(value)) return 'null';
  // Subnormal numbers have fewer than six digits.
  for (let digits = 1; digits < 9; digits++) {
    const short = Number(value.toPrecision(digits));
    if (Math.fround(short) === value) return String(short);
  }
  return String(Number(value.toPrecision(9)));
}
