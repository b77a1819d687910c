/** Fits the content trees and the page-kind trees to samples. */
import type { FittedTrees } from '#reader/extract/content/choose-blocks.ts';
import { kindProbabilities } from '#reader/extract/content/choose-blocks.ts';
import { FEATURES } from '#reader/extract/trees/features.ts';
import { FITTED_KINDS, PAGE_FEATURES } from '#reader/extract/trees/page-features.ts';
import { parseTrees, type Trees } from '#reader/extract/trees/trees.ts';
import { averaged, type BoostOptions, boost, cutIntoBins, writeTrees } from './boost.ts';
import { PARTS, type Sample } from './samples.ts';

const OPTIONS: Omit<BoostOptions, 'seed'> = {
  trees: 90,
  leaves: 24,
  maxDepth: 8,
  rate: 0.15,
  minLeaf: 0.05,
  l2: 0.2,
  columnShare: 0.2,
  rowShare: 0.6,
};
/** Blocks are scored by the mean of fits on different rows and columns, which reduces overfitting. */
const SEEDS = [7, 108];
/** Trees are small because a page is one row here. */
const KIND_OPTIONS: BoostOptions = {
  trees: 100,
  leaves: 8,
  maxDepth: 3,
  rate: 0.1,
  minLeaf: 1,
  l2: 1,
  columnShare: 0.3,
  rowShare: 0.7,
  seed: 3,
};
/** Weight of a page when kinds are fitted. All pages of aeb are news articles. */
const KIND_WEIGHT: Record<string, number> = { wcxb: 1, own: 0.7, aeb: 0.3 };

/** Trees for each kind, fitted to every sample outside some parts, as text. */
function fitKinds(samples: readonly Sample[], without: readonly number[]): string[] {
  const values = new Float32Array(samples.length * PAGE_FEATURES.length);
  for (const [at, { numbers }] of samples.entries()) values.set(numbers, at * PAGE_FEATURES.length);
  const bins = cutIntoBins(values, PAGE_FEATURES.length);
  const weights = Float32Array.from(samples, ({ page, kind }) => (kind < 0 ? 0 : (KIND_WEIGHT[page.dataset] ?? 0)));
  const rows = Int32Array.from(samples.keys()).filter(
    (row) => weights[row]! > 0 && !without.includes(samples[row]!.part),
  );
  return FITTED_KINDS.map((_, kind) => {
    const answers = Float32Array.from(samples, (sample) => (sample.kind === kind ? 1 : 0));
    return writeTrees(boost(bins, rows, answers, weights, KIND_OPTIONS), PAGE_FEATURES);
  });
}

const readKinds = (texts: readonly string[]): Trees[] => texts.map((text) => parseTrees(text, PAGE_FEATURES));

function writeKinds(sample: Sample, trees: readonly Trees[]): void {
  const kinds = kindProbabilities(trees, sample.numbers);
  const width = FEATURES.length;
  for (let end = width; end <= sample.rows.length; end += width) sample.rows.set(kinds, end - kinds.length);
}

/** Trees that choose blocks, fitted to every sample outside one part, as text. */
function fitBlocks(samples: readonly Sample[], without?: number): string {
  const size = samples.reduce((sum, sample) => sum + sample.answer.length, 0);
  const values = new Float32Array(size * FEATURES.length);
  const answers = new Float32Array(size);
  const weights = new Float32Array(size);
  const parts = new Uint8Array(size);
  let from = 0;
  for (const sample of samples) {
    values.set(sample.rows, from * FEATURES.length);
    answers.set(sample.answer, from);
    weights.set(sample.weight, from);
    parts.fill(sample.part, from, from + sample.answer.length);
    from += sample.answer.length;
  }
  const bins = cutIntoBins(values, FEATURES.length);
  const rows = Int32Array.from(answers.keys()).filter((row) => weights[row]! > 0 && parts[row] !== without);
  const fits = SEEDS.map((seed) => boost(bins, rows, answers, weights, { ...OPTIONS, seed }));
  return writeTrees(averaged(fits), FEATURES);
}

export interface FittedTexts {
  blocks: string;
  kinds: string[];
}

/**
 * Fits everything to the samples outside one part. The kind of a sample is estimated by trees that were not fitted to its
 * part, as for unseen pages.
 */
export function fitAll(samples: readonly Sample[], without?: number): FittedTexts {
  const left = without === undefined ? [] : [without];
  for (let part = 0; part < PARTS; part++) {
    if (part === without) continue;
    const trees = readKinds(fitKinds(samples, [...left, part]));
    for (const sample of samples) if (sample.part === part) writeKinds(sample, trees);
  }
  return { blocks: fitBlocks(samples, without), kinds: fitKinds(samples, left) };
}

export const readFitted = ({ blocks, kinds }: FittedTexts): FittedTrees => ({
  blocks: parseTrees(blocks, FEATURES),
  kinds: readKinds(kinds),
});
