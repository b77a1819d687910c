import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { openTokenizer } from '../tokenizers/hugging-face.ts';
import { TOKENIZER, TOKENIZER_CONFIG } from './test-model.suite.ts';
import { createPreparer, piecesOf } from './tokenize.ts';
import { windowsOf } from './windows.ts';

const seed = { seed: 6, numRuns: 200 };

describe('pieces of a long text', () => {
  const text = fc
    .array(fc.constantFrom('a', 'word', ' ', '\n', '😀', 'x'.repeat(3_000), ' '.repeat(2_000), 'e\u0301'), {
      maxLength: 60,
    })
    .map((parts) => parts.join(''));

  it('add up to the text, within the maximum length, without splitting characters', () => {
    fc.assert(
      fc.property(text, (whole) => {
        const pieces = [...piecesOf(whole)];
        expect(pieces.join('')).toBe(whole);
        for (const piece of pieces) {
          expect(piece.length).toBeLessThanOrEqual(8_192);
          expect(piece).not.toMatch(/^[\udc00-\udfff]|[\ud800-\udbff]$/);
        }
      }),
      seed,
    );
  });

  it('end before white space, so that their tokens are those of the whole text', async () => {
    const tokenizer = await openTokenizer(TOKENIZER, TOKENIZER_CONFIG);
    const preparer = createPreparer(tokenizer, { contextTokens: 10_000_000, padId: 0 });
    const long = 'the river, the zoo and some longer words '.repeat(1_000);
    const [prepared] = await preparer.prepare([long], {});
    expect(prepared!.sequence.ids).toEqual(tokenizer.encode(long, { special: true }));
  });
});

describe('windows', () => {
  it('cover a document within the token limit, and overlap by an eighth', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 3_000 }), fc.integer({ min: 1, max: 500 }), (length, maxTokens) => {
        const ids = Array.from({ length }, (_, at) => at);
        const windows = windowsOf(ids, maxTokens);
        expect(new Set(windows.flat()).size).toBe(length);
        expect(windows.length).toBeGreaterThan(0);
        for (const [at, window] of windows.entries()) {
          expect(window.length).toBeLessThanOrEqual(maxTokens);
          const next = windows[at + 1];
          if (next) expect(window.at(-1)! - next[0]! + 1).toBe(Math.floor(maxTokens / 8));
        }
      }),
      seed,
    );
  });
});
