import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { LEARNED, loadStaticModel, WHOLE } from './model.ts';

const golden = JSON.parse(readFileSync(new URL('golden.json', import.meta.url), 'utf8')) as {
  vectors: ({ text: string; ids: number[]; at: [number, number][] } & Record<`at${number}`, [number, number][]>)[];
  similarities: { a: string; b: string; d256: number; d1024: number }[];
};
const model = await loadStaticModel();
const yieldIfDue = () => undefined;
const read = async (text: string) => (await model.reader.read(text, { yieldIfDue })).kept;
const whole = async (text: string) => model.whole(await read(text), yieldIfDue);

/** The first numbers, as a unit vector. */
const cut = (vector: Float32Array, dimensions: number): Float32Array => {
  const length = Math.hypot(...vector.subarray(0, dimensions)) || 1;
  return vector.slice(0, dimensions).map((value) => value / length);
};

test.each(golden.vectors)('the expected vector of $text', async ({ text, ids, at, ...cuts }) => {
  const kept = await read(text);
  expect(kept.ids).toEqual(ids);
  const vector = await whole(text);
  expect(vector).toHaveLength(WHOLE);
  for (const [index, value] of at) expect(Math.abs(vector[index]! - value)).toBeLessThan(1e-5);
  for (const dimensions of [512, 256, 128] as const) {
    const short = dimensions > LEARNED ? cut(vector, dimensions) : model.learned(kept.ids, dimensions);
    for (const [index, value] of cuts[`at${dimensions}`]!)
      expect(Math.abs(short[index]! - value), `${dimensions}`).toBeLessThan(1e-5);
  }
});

test.each(golden.vectors)('every shorter vector of $text is a prefix of the whole one', async ({ text }) => {
  const { ids } = await read(text);
  const vector = await whole(text);
  for (const dimensions of [1, 2, 37, 128, 255, 256]) {
    const expected = cut(vector, dimensions);
    const short = model.learned(ids, dimensions);
    for (const [at, value] of short.entries()) expect(Math.abs(value - expected[at]!)).toBeLessThan(1e-6);
  }
});

test.each(golden.similarities)('the expected similarity of $a and $b', async ({ a, b, d256, d1024 }) => {
  const dot = (x: Float32Array, y: Float32Array) => x.reduce((sum, value, at) => sum + value * y[at]!, 0);
  const [idsA, idsB] = [(await read(a)).ids, (await read(b)).ids];
  expect(Math.abs(dot(model.learned(idsA, LEARNED), model.learned(idsB, LEARNED)) - d256)).toBeLessThan(1e-5);
  expect(Math.abs(dot(await whole(a), await whole(b)) - d1024)).toBeLessThan(1e-5);
});
