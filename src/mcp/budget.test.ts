import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { countTokens, loadTokens } from '#reader/index.ts';
import { divideTokens, takeExcerpt } from './budget.ts';

const SEED = { seed: 7, numRuns: 60 };

/** A lone surrogate, which a wrong split would leave. */
const HALVES = /\p{Surrogate}/u;

const texts = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 400 }),
  fc
    .array(
      fc.constantFrom(
        'Some words of a line.',
        '',
        '```',
        '# Head',
        '  - a',
        '日本語の文',
        '👩‍👩‍👧',
        ' '.repeat(50),
        'x'.repeat(90),
      ),
      {
        maxLength: 60,
      },
    )
    .map((lines) => lines.join('\n')),
);

describe('excerpts of a text', () => {
  it('add up to the whole text, each within its budget, without splitting characters', () =>
    fc.assert(
      fc.asyncProperty(texts, fc.integer({ min: 4, max: 60 }), async (whole, maxTokens) => {
        await loadTokens();
        let joined = '';
        for (let offset = 0; offset < whole.length; ) {
          const { text, start, end, tokens } = await takeExcerpt(whole, offset, maxTokens);
          expect(start).toBe(offset);
          expect(end).toBeGreaterThan(start);
          expect(tokens).toBe(countTokens(text));
          // A single character may exceed the budget.
          if ([...text].length > 1) expect(tokens).toBeLessThanOrEqual(maxTokens + 1);
          if (!HALVES.test(whole)) expect(text).not.toMatch(HALVES);
          joined += text;
          offset = end;
        }
        expect(joined).toBe(whole);
      }),
      SEED,
    ));

  it('end at a block, and never inside code', async () => {
    const blocks = Array.from({ length: 40 }, (_, at) => `Block ${at} has some words in it.`);
    const plain = await takeExcerpt(blocks.join('\n\n'), 0, 100);
    expect(plain.text.endsWith('words in it.\n\n')).toBe(true);
    const code = `${blocks.slice(0, 8).join('\n\n')}\n\n\`\`\`\n${'let a = 1;\n\n'.repeat(60)}\`\`\`\n`;
    const cut = await takeExcerpt(code, 0, 120);
    expect(cut.text.endsWith('words in it.\n\n')).toBe(true);
  });

  it('start at a whole character', async () => {
    const { text, start } = await takeExcerpt('a😀b', 2, 100);
    expect([text, start]).toEqual(['😀b', 1]);
    expect(await takeExcerpt('abc', 99, 100)).toMatchObject({ text: '', start: 3, end: 3 });
  });
});

describe('shares', () => {
  it('give small texts what they need, and divide the rest equally', async () => {
    await loadTokens();
    const long = 'word '.repeat(5_000);
    const [small, first, second] = divideTokens(
      ['one two', long, long].map((text) => ({ text, overheadTokens: 10 })),
      1_000,
    );
    expect(small).toBe(countTokens('one two') + 10);
    expect(Math.abs(first! - second!)).toBeLessThanOrEqual(1);
    expect(small! + first! + second!).toBeLessThanOrEqual(1_000);
    expect(first).toBeGreaterThan(450);
    expect(divideTokens([], 100)).toEqual([]);
  });
});
