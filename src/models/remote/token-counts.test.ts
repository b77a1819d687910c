import fc from 'fast-check';
import { beforeAll, expect, it } from 'vitest';
import { NEVER, TOOLS } from './remote.suite.ts';
import { estimate, sanitizeText, windows } from './token-counts.ts';

const { tokens } = TOOLS;
beforeAll(() => tokens.load());

it('makes windows within the limit that together are the whole text', async () => {
  const texts = fc.string({ unit: 'grapheme', maxLength: 400 });
  await fc.assert(
    fc.asyncProperty(texts, fc.integer({ min: 8, max: 40 }), async (text, limit) => {
      const pieces = await windows(tokens, text, limit, NEVER);
      expect(pieces.join('')).toBe(text);
      for (const piece of pieces) expect(tokens.count(piece)).toBeLessThanOrEqual(limit + 1);
    }),
    { seed: 6, numRuns: 200 },
  );
});

it('makes windows of a million characters, with and without spaces', async () => {
  for (const text of ['word '.repeat(200_000), 'a'.repeat(1_000_000), ' '.repeat(1_000_000)]) {
    const pieces = await windows(tokens, text, 300, NEVER);
    expect(pieces.length).toBeGreaterThan(1);
    expect(pieces.reduce((sum, { length }) => sum + length, 0)).toBe(text.length);
  }
});

it('advances if a single character exceeds the limit', async () => {
  expect((await windows(tokens, '𒀀𒀀', 1, NEVER)).join('')).toBe('𒀀𒀀');
});

it('can be aborted in the middle of a long list', async () => {
  const leaving = new AbortController();
  const counts = estimate(tokens, Array(200).fill('word '.repeat(1_000)) as string[], leaving.signal);
  setImmediate(() => leaving.abort(new Error('left')));
  await expect(counts).rejects.toThrow('left');
  expect(await estimate(tokens, ['', 'one'], NEVER)).toEqual([2, 3]);
});

it('replaces lone surrogates', () => {
  expect(sanitizeText('a\ud800b')).toBe('a\ufffdb');
  expect(sanitizeText('😀')).toBe('😀');
  expect(sanitizeText('')).toBe(' ');
});
