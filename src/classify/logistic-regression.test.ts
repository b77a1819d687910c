/** Training finds the minimum of the loss, from few samples and among noise. */
import { expect, it } from 'vitest';
import { predict, type Sample, softmax, train } from './logistic-regression.ts';

/** A deterministic sequence of numbers between -1 and 1. */
function numbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 48_271) % 2_147_483_647;
    return (state / 2_147_483_647) * 2 - 1;
  };
}

function unit(values: readonly number[]): Float32Array {
  const length = Math.hypot(...values);
  return Float32Array.from(values, (value) => value / length);
}

const DIMENSIONS = 32;

/** Vectors clustered around one centroid per label. All share a strong common direction, as embeddings do. */
function clusters(labels: number, each: number, noise: number, seed: number): Sample[] {
  const next = numbers(7);
  const centers = Array.from({ length: labels }, () => Array.from({ length: DIMENSIONS }, next));
  const random = numbers(seed);
  return Array.from({ length: labels * each }, (_, at) => {
    const label = at % labels;
    return { label, vector: unit(centers[label]!.map((value) => 3 + value + noise * random())) };
  });
}

const accuracy = async (labels: number, noise: number) => {
  const weights = await train(clusters(labels, 8, noise, 11), { labels, iterations: 10 });
  const unseen = clusters(labels, 20, noise, 12);
  const right = unseen.filter(({ vector, label }) => {
    const probabilities = predict(weights, vector);
    expect(probabilities.reduce((sum, one) => sum + one, 0)).toBeCloseTo(1, 6);
    return probabilities.indexOf(Math.max(...probabilities)) === label;
  });
  return right.length / unseen.length;
};

it('separates clusters with few samples', async () => {
  expect(await accuracy(2, 0.5)).toBe(1);
  expect(await accuracy(8, 0.5)).toBe(1);
  expect(await accuracy(8, 1)).toBeGreaterThan(0.95);
});

it('is the same for the same samples, and better trained with more iterations', async () => {
  const samples = clusters(3, 6, 0.5, 5);
  const one = await train(samples, { labels: 3, iterations: 10 });
  const same = await train(samples, { labels: 3, iterations: 10 });
  expect(same).toEqual(one);
  const loss = async (iterations: number) => {
    const weights = await train(samples, { labels: 3, iterations });
    return -samples.reduce((sum, { vector, label }) => sum + Math.log(predict(weights, vector)[label]!), 0);
  };
  expect(await loss(10)).toBeLessThan(await loss(1));
});

it('reaches the minimum: its gradient is zero', async () => {
  const samples = clusters(3, 10, 2, 3);
  const { weights, biases, mean } = await train(samples, { labels: 3, iterations: 100 });
  // The regularized mean loss, as in the module, and its derivative with respect to the first weight of each label.
  for (let label = 0; label < 3; label++) {
    let gradient = weights[label * DIMENSIONS]! / (100 * samples.length);
    for (const sample of samples) {
      const probability = predict({ dimensions: DIMENSIONS, weights, biases, mean }, sample.vector)[label]!;
      const error = probability - (sample.label === label ? 1 : 0);
      gradient += (error * (sample.vector[0]! - mean[0]!)) / samples.length;
    }
    expect(Math.abs(gradient)).toBeLessThan(1e-5);
  }
});

it('stops when it is aborted', async () => {
  const reason = new Error('gone');
  const work = train(clusters(8, 200, 1, 2), { labels: 8, iterations: 100, signal: AbortSignal.abort(reason) });
  await expect(work).rejects.toBe(reason);
});

it('does not overflow for large scores', () => {
  expect(softmax([1_000, 1_000])).toEqual([0.5, 0.5]);
  expect(softmax([-1_000, 1_000])).toEqual([0, 1]);
});
