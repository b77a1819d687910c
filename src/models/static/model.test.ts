import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { LEARNED, loadStaticModel } from './model.ts';

const golden = JSON.parse(readFileSync(new URL('golden.json', import.meta.url), 'utf8')) as {
  vectors: {
    text: string;
    ids: number[];
    learned256: number[];
    hashed768: [number, number][];
    hybrid1024_at: [number, number][];
  }[];
  similarities: { a: string; b: string; learned256: number; hybrid1024: number }[];
};
const model = await loadStaticModel();
const now = async () => {};
const whole = (text: string) => model.whole(model.tokenizer.encode(text), text, now);

test.each(golden.vectors)(
  'the expected vector of $text',
  async ({ text, ids, learned256, hybrid1024_at, hashed768 }) => {
    expect([...model.tokenizer.encode(text)].slice(0, ids.length)).toEqual(ids);
    const learned = model.learned(model.tokenizer.encode(text), LEARNED);
    for (const [at, value] of learned256.entries()) expect(Math.abs(learned[at]! - value)).toBeLessThan(1e-5);
    const vector = await whole(text);
    for (const [at, value] of hybrid1024_at) expect(Math.abs(vector[at]! - value)).toBeLessThan(1e-5);
    const hashed = vector.slice(LEARNED);
    const length = Math.hypot(...hashed);
    for (const [at, value] of hashed768) expect(Math.abs(hashed[at]! / length - value)).toBeLessThan(1e-5);
  },
);

test.each(golden.similarities)('the expected similarity of $a and $b', async ({ a, b, learned256, hybrid1024 }) => {
  const dot = (x: Float32Array, y: Float32Array) => x.reduce((sum, value, at) => sum + value * y[at]!, 0);
  const ids = [a, b].map((text) => model.tokenizer.encode(text));
  expect(dot(model.learned(ids[0]!, 256), model.learned(ids[1]!, 256))).toBeCloseTo(learned256, 4);
  expect(dot(await whole(a), await whole(b))).toBeCloseTo(hybrid1024, 4);
});
