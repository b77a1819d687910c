import { describe, expect, it } from 'vitest';
import { meaningWeight, relevanceOf, SIMILARITY_FLOOR, scoreOf, spreadOf, standardSimilarity } from './relevance.ts';

describe('relevance', () => {
  it('grows with each signal, and an unknown similarity counts as none', () => {
    const plain = { words: 0.5, coverage: 0.5, similarity: 0.1 };
    const score = relevanceOf(plain, 1);
    expect(relevanceOf({ ...plain, words: 0.6 }, 1)).toBeGreaterThan(score);
    expect(relevanceOf({ ...plain, coverage: 0.6 }, 1)).toBeGreaterThan(score);
    expect(relevanceOf({ ...plain, similarity: 0.2 }, 1)).toBeGreaterThan(score);
    expect(relevanceOf({ ...plain, similarity: undefined }, 1)).toBe(relevanceOf({ ...plain, similarity: 0 }, 1));
  });

  it('gives a passage that has all words more than any passage without one', () => {
    const words = scoreOf(relevanceOf({ words: 1, coverage: 1, similarity: 0 }, meaningWeight(4, 1)));
    const meaning = scoreOf(relevanceOf({ words: 0, coverage: 0, similarity: 0.5 }, meaningWeight(4, 1)));
    expect(words).toBeGreaterThan(meaning);
    expect(meaning).toBeLessThan(0.5);
  });

  it('weighs the meaning less for a longer query, within limits', () => {
    const weights = [1, 4, 7, 12, 40, 400].map((words) => meaningWeight(words, 1));
    expect(weights).toEqual([...weights].sort((a, b) => b - a));
    expect(weights[0]).toBe(weights[1]);
    expect(weights[2]).toBe(1);
    expect(weights[4]).toBe(weights[5]);
    expect(meaningWeight(7, 2)).toBe(2);
  });

  it('does not depend on how a model spreads its cosines', () => {
    const narrow = [0.8, 0.81, 0.79, 0.86];
    const wide = narrow.map((cosine) => (cosine - 0.8) * 10);
    const many = (values: readonly number[]) => Array.from({ length: 24 }, (_, at) => values[at % 4]!);
    for (const [at, cosine] of narrow.entries()) {
      const own = standardSimilarity(cosine, spreadOf(many(narrow)));
      expect(own).toBeCloseTo(standardSimilarity(wide[at]!, spreadOf(many(wide))));
    }
    expect(standardSimilarity(0.86, spreadOf(many(narrow)))).toBeGreaterThan(SIMILARITY_FLOOR);
    expect(spreadOf([0.5, 0.6])).toEqual(spreadOf(new Array(30).fill(0.4)));
  });
});
