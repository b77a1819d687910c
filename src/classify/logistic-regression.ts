/**
 * Multinomial logistic regression over embeddings: L2-regularized cross-entropy, minimized by accelerated gradient
 * descent (Nesterov, "Introductory Lectures on Convex Optimization", section 2.2). The same samples always give the
 * same weights.
 */
import { setImmediate as yieldToEventLoop } from 'node:timers/promises';

export interface Sample {
  /** A vector of length 1. */
  readonly vector: Float32Array;
  /** Index of the sample's label. */
  readonly label: number;
}

/** A trained classifier. The score of a label is `weights · (vector - mean) + bias`. */
export interface Weights {
  readonly dimensions: number;
  /** One row of `dimensions` numbers for each label. */
  readonly weights: Float32Array;
  readonly biases: Float32Array;
  /** Mean of the vectors. The embeddings of one model share a common direction, which would slow down the descent. */
  readonly mean: Float32Array;
}

export interface TrainingOptions {
  readonly labels: number;
  /** The descent takes STEPS steps for each iteration. */
  readonly iterations: number;
  readonly signal?: AbortSignal | undefined;
}

const STEPS = 20;
/**
 * Inverse strength of the regularization, like `C` of scikit-learn's LogisticRegression. Embeddings of different
 * classes are close to each other, so the weights must be able to grow large.
 */
const C = 100;
/** Maximum work before the descent yields to the event loop, in ms. */
const SLICE_MS = 10;

/** The samples must not be empty. Rejects with the reason of `signal`. */
export async function train(
  samples: readonly Sample[],
  { labels, iterations, signal }: TrainingOptions,
): Promise<Weights> {
  const { length: dimensions } = samples[0]!.vector;
  const mean = meanOf(samples, dimensions);
  const vectors = samples.map(({ vector }) => vector.map((value, at) => value - mean[at]!));
  const strength = 1 / (C * samples.length);
  // The row of each label contains its weights, followed by its bias.
  const width = dimensions + 1;
  let current = new Float64Array(labels * width);
  let previous = current;
  let sliceStart = performance.now();
  const step = 1 / (smoothnessOf(vectors) + strength);
  for (let round = 1; round <= iterations * STEPS; round++) {
    const momentum = (round - 1) / (round + 2);
    const point = current.map((value, at) => value + momentum * (value - previous[at]!));
    const gradient = point.map((value) => value * strength);
    for (const [at, vector] of vectors.entries()) {
      addGradient(gradient, { point, vector, label: samples[at]!.label, labels, share: 1 / samples.length });
      if (performance.now() - sliceStart < SLICE_MS) continue;
      await yieldToEventLoop();
      signal?.throwIfAborted();
      sliceStart = performance.now();
    }
    previous = current;
    current = point.map((value, at) => value - step * gradient[at]!);
  }
  const weights = new Float32Array(labels * dimensions);
  const biases = new Float32Array(labels);
  for (let label = 0; label < labels; label++) {
    weights.set(current.subarray(label * width, label * width + dimensions), label * dimensions);
    biases[label] = current[label * width + dimensions]!;
  }
  return { dimensions, weights, biases, mean };
}

function meanOf(samples: readonly Sample[], dimensions: number): Float32Array {
  const sums = new Float64Array(dimensions);
  for (const { vector } of samples) for (let at = 0; at < dimensions; at++) sums[at] = sums[at]! + vector[at]!;
  return Float32Array.from(sums, (sum) => sum / samples.length);
}

/**
 * Upper bound of the curvature: half of the mean squared length of the vectors, including their constant component 1
 * (Böhning, 1992, "Multinomial logistic regression algorithm").
 */
function smoothnessOf(vectors: readonly Float32Array[]): number {
  let squares = 0;
  for (const vector of vectors) for (const value of vector) squares += value * value;
  return 0.5 * (squares / vectors.length + 1);
}

interface GradientPart {
  readonly point: Float64Array;
  readonly vector: Float32Array;
  readonly label: number;
  readonly labels: number;
  readonly share: number;
}

function addGradient(gradient: Float64Array, { point, vector, label, labels, share }: GradientPart): void {
  const width = vector.length + 1;
  const scores = Array.from({ length: labels }, (_, row) => {
    let score = point[row * width + vector.length]!;
    for (let at = 0; at < vector.length; at++) score += point[row * width + at]! * vector[at]!;
    return score;
  });
  const probabilities = softmax(scores);
  for (let row = 0; row < labels; row++) {
    const error = share * (probabilities[row]! - (row === label ? 1 : 0));
    const start = row * width;
    for (let at = 0; at < vector.length; at++) gradient[start + at] = gradient[start + at]! + error * vector[at]!;
    gradient[start + vector.length] = gradient[start + vector.length]! + error;
  }
}

/** Probabilities of the labels for a vector of length 1. */
export function predict({ dimensions, weights, biases, mean }: Weights, vector: Float32Array): number[] {
  return softmax(
    Array.from(biases, (bias, label) => {
      let score = bias;
      for (let at = 0; at < dimensions; at++) {
        score += weights[label * dimensions + at]! * (vector[at]! - mean[at]!);
      }
      return score;
    }),
  );
}

export function softmax(scores: readonly number[]): number[] {
  const top = Math.max(...scores);
  const powers = scores.map((score) => Math.exp(score - top));
  const sum = powers.reduce((total, power) => total + power, 0);
  return powers.map((power) => power / sum);
}
