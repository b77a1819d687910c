// Full run only: compares every value of many vectors.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { floatsAsText } from './float-text.ts';
import { asBits, finishVector, normalize, vectorAsJson } from './vectors.ts';

const RAW = Float32Array.of(0.9, -0.2, 0.4, 0.1, -0.3, 0.5, -0.1, 0.2);
const TWELVE = Float32Array.of(1, -1, 1, 1, -1, -1, 1, 0, 0.5, -0.5, 0.1, 0);
const float32 = fc.float({ noNaN: true, noDefaultInfinity: true });
const unitRange = fc.float({ min: -1, max: 1, noNaN: true });
const vector = fc.array(fc.oneof(unitRange, float32, fc.constantFrom(0, -0, 1, -1)), { maxLength: 40 });

describe('the examples of the API reference', () => {
  test('truncated, then normalized', () => {
    const cut = finishVector(RAW, { dimensions: 4, normalized: true });
    const expected = [0.8911328, -0.1980295, 0.396059, 0.0990148];
    expect(cut).toHaveLength(4);
    for (const [at, value] of expected.entries()) expect(Math.abs(cut[at]! - value)).toBeLessThan(1e-7);
    expect(vectorAsJson(finishVector(RAW, { dimensions: 4, normalized: false }), ['float'])).toBe('[0.9,-0.2,0.4,0.1]');
  });

  test('every type', () => {
    const unit = finishVector(RAW, { dimensions: 8, normalized: true });
    expect(vectorAsJson(unit, ['base64'])).toBe('"JAhCPwR5LL4Eeaw+BHmsPcNagb5Fl9c+BHmsvQR5LD4="');
    expect(vectorAsJson(unit, ['ubinary'])).toBe('[181]');
    expect(vectorAsJson(unit, ['binary'])).toBe('[53]');
    expect(vectorAsJson(TWELVE, ['ubinary'])).toBe('[178,160]');
    expect(vectorAsJson(TWELVE, ['binary'])).toBe('[50,32]');
    const numbers = JSON.parse(vectorAsJson(unit, ['float'])) as number[];
    const expected = [0.7579367, -0.1684304, 0.3368608, 0.0842152, -0.2526456, 0.421076, -0.0842152, 0.1684304];
    for (const [at, value] of expected.entries()) expect(Math.abs(numbers[at]! - value)).toBeLessThan(1e-7);
  });

  test('several types, each once', () => {
    expect(vectorAsJson(TWELVE, ['binary', 'float', 'binary'])).toBe(
      '{"binary":[50,32],"float":[1,-1,1,1,-1,-1,1,0,0.5,-0.5,0.1,0]}',
    );
    expect(vectorAsJson(TWELVE, ['ubinary', 'ubinary'])).toBe('[178,160]');
  });
});

test('the empty vector and the zero vector', () => {
  expect(vectorAsJson(new Float32Array(0), ['float'])).toBe('[]');
  expect(vectorAsJson(new Float32Array(0), ['base64'])).toBe('""');
  expect(normalize(new Float32Array(3))).toEqual(new Float32Array(3));
  expect(vectorAsJson(Float32Array.of(Number.NaN, 1), ['float'])).toBe('[null,1]');
});

test('the input is not modified', () => {
  const given = RAW.slice();
  finishVector(given, { dimensions: 3, normalized: true });
  expect(given).toEqual(RAW);
});

/** Computes, directly from the definition, the smallest number of digits that round-trips exactly. */
function fewestDigits(value: number): number {
  for (let digits = 1; digits < 9; digits++) {
    if (Math.fround(Number(value.toPrecision(digits))) === value) return digits;
  }
  return 9;
}
const digitsOf = (text: string) => {
  const digits = text.replace(/e.*|[-.]/g, '').replace(/^0+/, '');
  return text.includes('.') || text.includes('e') ? digits.length : digits.replace(/0+$/, '').length;
};

test('floats read back exactly and are as short as possible', () => {
  fc.assert(
    fc.property(fc.oneof(unitRange, float32), (value) => {
      fc.pre(value !== 0);
      const text = floatsAsText(Float32Array.of(value));
      expect(Math.fround(Number(text))).toBe(value);
      expect(String(JSON.parse(text))).toBe(text);
      expect(digitsOf(text)).toBe(fewestDigits(value));
    }),
    { seed: 6, numRuns: 50_000 },
  );
});

test('numbers near powers of ten', () => {
  for (let exponent = -45; exponent <= 38; exponent++) {
    const near = Math.fround(Number(`1e${exponent}`));
    const bits = new Uint32Array(Float32Array.of(near).buffer);
    for (const step of [-3, -2, -1, 0, 1, 2, 3]) {
      const value = new Float32Array(Uint32Array.of(Math.max(0, bits[0]! + step)).buffer)[0]!;
      const text = floatsAsText(Float32Array.of(value, -value));
      const [positive, negative] = (JSON.parse(`[${text}]`) as number[]).map(Math.fround);
      expect(positive).toBe(value);
      expect(negative! + value).toBe(0);
    }
  }
});

test('all types represent the same vector', () => {
  fc.assert(
    fc.property(vector, (numbers) => {
      const values = Float32Array.from(numbers);
      const all = JSON.parse(vectorAsJson(values, ['float', 'base64', 'ubinary', 'binary']));
      expect(Float32Array.from(all.float).map((value) => value + 0)).toEqual(values.map((value) => value + 0));
      const bytes = Buffer.from(all.base64, 'base64');
      expect(Array.from(values, (_, at) => bytes.readFloatLE(at * 4))).toEqual([...values]);
      expect(all.binary).toEqual(all.ubinary.map((byte: number) => byte - 128));
      const bits = all.ubinary.map((byte: number) => byte.toString(2).padStart(8, '0')).join('');
      expect(bits.slice(0, values.length)).toBe(Array.from(values, (value) => (value > 0 ? 1 : 0)).join(''));
      expect(bits.slice(values.length)).toMatch(/^0*$/);
      expect(all.ubinary).toEqual([...asBits(values)]);
    }),
    { seed: 6, numRuns: 5_000 },
  );
});

test('normalized vectors have length 1 and keep their direction', () => {
  fc.assert(
    fc.property(
      fc.array(fc.float({ min: -1000, max: 1000, noNaN: true }), { minLength: 1, maxLength: 64 }),
      (numbers) => {
        fc.pre(numbers.some((value) => Math.abs(value) > 1e-3));
        const values = Float32Array.from(numbers);
        const unit = finishVector(values, { dimensions: values.length, normalized: true });
        expect(Math.hypot(...unit)).toBeCloseTo(1, 5);
        const length = Math.hypot(...values);
        for (const [at, value] of values.entries()) expect(unit[at]! * length).toBeCloseTo(value, 2);
      },
    ),
    { seed: 6, numRuns: 2_000 },
  );
});
