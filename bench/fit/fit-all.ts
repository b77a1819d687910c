/** Fits the content trees and the page-kind trees to samples. */
import type { FittedTrees } from '#reader/extract/content/choose-blocks.ts';
import { kindProbabilities } from '#reader/extract/content/choose-blocks.ts';
import { FEATURES } from '#reader/extract/trees/features.ts';
import { FITTED_KINDS, PAGE_FEATURES, withUrlFeatures } from '#reader/extract/trees/page-features.ts';
import { parseTokenModel, type TokenModel, writeTokenModel } from '#reader/extract/trees/token-model.ts';
import { createTokenWriter, scoreTokens, TOKEN_FEATURES } from '#reader/extract/trees/token-scores.ts';
import { parseTrees, type Trees } from '#reader/extract/trees/trees.ts';
import { averaged, type BoostOptions, boost, cutIntoBins, writeTrees } from './boost.ts';
import { collectTokens, type FittedTokens, fitTokens, modelOf } from './fit-tokens.ts';
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
/** Blocks are scored by the mean of several fits on different rows and columns, which reduces overfitting. */
const SEEDS = [7, 108, 209, 310];
/** The trees are small, because each page is only one row here. */
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
/** Weight of a page when the kinds are fitted. All pages of aeb are news articles. */
const KIND_WEIGHT: Record<string, number> = { wcxb: 1, own: 0.7, aeb: 0.3 };

/**
 * Fits trees for each kind to every sample outside the given parts. Returns them as text. Each sample is two rows, one
 * with its URL and one without: content is chosen without the URL, the kind is reported with it.
 */
function fitKinds(samples: readonly Sample[], without: readonly number[]): string[] {
  const size = samples.length;
  const values = new Float32Array(2 * size * PAGE_FEATURES.length);
  for (const [at, { numbers, facts }] of samples.entries()) {
    values.set(numbers, at * PAGE_FEATURES.length);
    values.set(withUrlFeatures(numbers.slice(), facts), (size + at) * PAGE_FEATURES.length);
  }
  const twice = [...samples, ...samples];
  const bins = cutIntoBins(values, PAGE_FEATURES.length);
  const weights = Float32Array.from(twice, ({ page, kind }) => (kind < 0 ? 0 : (KIND_WEIGHT[page.dataset] ?? 0) / 2));
  const rows = Int32Array.from(twice.keys()).filter((row) => weights[row]! > 0 && !without.includes(twice[row]!.part));
  return FITTED_KINDS.map((_, kind) => {
    const answers = Float32Array.from(twice, (sample) => (sample.kind === kind ? 1 : 0));
    return writeTrees(boost(bins, rows, answers, weights, KIND_OPTIONS), PAGE_FEATURES);
  });
}

const readKinds = (texts: readonly string[]): Trees[] => texts.map((text) => parseTrees(text, PAGE_FEATURES));

function writeKinds(sample: Sample, trees: readonly Trees[]): void {
  const kinds = kindProbabilities(trees, sample.numbers);
  const width = FEATURES.length;
  for (let end = width; end <= sample.rows.length; end += width) sample.rows.set(kinds, end - kinds.length);
}

const FIRST_TOKEN_FEATURE = FEATURES.indexOf(TOKEN_FEATURES[0]!);

function writeTokens({ survey, rows, answer }: Sample, model: TokenModel): void {
  if (answer.length === 0) return;
  const write = createTokenWriter(survey, scoreTokens(survey, model));
  for (let at = 0; at < answer.length; at++) write(rows, at * FEATURES.length + FIRST_TOKEN_FEATURE, at);
}

type TokenFits = (without: readonly number[]) => FittedTokens;
const tokenFits = new WeakMap<readonly Sample[], TokenFits>();

/** Token models of some samples, each fitted once: cross-validation uses most of them twice. */
function tokenFitsOf(samples: readonly Sample[]): TokenFits {
  const known = tokenFits.get(samples);
  if (known) return known;
  const table = collectTokens(samples);
  const fits = new Map<string, FittedTokens>();
  const fit: TokenFits = (without) => {
    const key = without.toSorted().join();
    const fitted = fits.get(key) ?? fitTokens(table, without);
    fits.set(key, fitted);
    return fitted;
  };
  tokenFits.set(samples, fit);
  return fit;
}

/** Fits the trees that choose blocks to every sample outside one part. Returns them as text. */
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
  tokens: string;
}

/**
 * Fits everything to the samples outside one part. The kind of each sample and the scores of its tokens come from models
 * that were not fitted to the sample's part, as for unseen pages.
 */
export function fitAll(samples: readonly Sample[], without?: number): FittedTexts {
  const left = without === undefined ? [] : [without];
  const tokensWithout = tokenFitsOf(samples);
  for (let part = 0; part < PARTS; part++) {
    if (part === without) continue;
    const trees = readKinds(fitKinds(samples, [...left, part]));
    const tokens = modelOf(tokensWithout([...left, part]));
    for (const sample of samples) {
      if (sample.part !== part) continue;
      writeKinds(sample, trees);
      writeTokens(sample, tokens);
    }
  }
  const { bias, rows } = tokensWithout(left);
  return {
    blocks: fitBlocks(samples, without),
    kinds: fitKinds(samples, left),
    tokens: writeTokenModel(bias, rows),
  };
}

export const readFitted = ({ blocks, kinds, tokens }: FittedTexts): FittedTrees => ({
  blocks: parseTrees(blocks, FEATURES),
  kinds: readKinds(kinds),
  tokens: parseTokenModel(tokens),
});
