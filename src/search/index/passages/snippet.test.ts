import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { makeSnippet } from './snippet.ts';

const seed = 20_264;

describe('snippets', () => {
  it('are single lines with the words, of limited length', () => {
    fc.assert(
      fc.property(fc.array(fc.string({ unit: 'binary' })), (texts) => {
        const snippet = makeSnippet(texts.join(' word '), new Set(['word']), 'en');
        expect(snippet.length).toBeLessThan(320);
        expect(snippet).not.toMatch(/\n/);
      }),
      { seed, numRuns: 40 },
    );
    const text = `${'Nothing is here. '.repeat(50)}But the answer stands in this sentence. ${'Nor here. '.repeat(50)}`;
    expect(makeSnippet(`# Title\n\n${text}`, new Set(['answer', 'sentenc']), 'en')).toMatch(
      /^… .*But the answer stands in this sentence\. .* …$/,
    );
  });
});
