import fc from 'fast-check';
import { encode } from 'gpt-tokenizer/encoding/cl100k_base';
import { beforeAll, describe, expect, it } from 'vitest';
import { countTokens, keepTokens, loadTokens } from './tokens.ts';

beforeAll(loadTokens);

const asText = { disallowedSpecial: new Set<string>() };

describe('countTokens', () => {
  it('counts as the reference implementation does', () => {
    expect(countTokens('')).toBe(0);
    expect(countTokens('hello world')).toBe(2);
    expect(countTokens('héllo 漢字 👩‍👩‍👧')).toBe(encode('héllo 漢字 👩‍👩‍👧').length);
  });

  it('counts special tokens as plain text', () => {
    expect(countTokens('<|endoftext|>')).toBeGreaterThan(1);
    expect(keepTokens('a <|endoftext|> b', 100)).toBe('a <|endoftext|> b');
  });

  it('counts ordinary long text exactly', () => {
    const text = 'The quick brown fox, isn’t it? 漢字かな交じり文。 1234567 \n\n  - item\n'.repeat(4_000);
    expect(countTokens(text)).toBe(encode(text, asText).length);
  });

  it('counts as the reference implementation does, for any text', () => {
    const part = fc.oneof(
      fc.string({ unit: 'grapheme', maxLength: 12 }),
      fc.constantFrom(
        ' ',
        '  ',
        '\n',
        ' \n\n',
        '\t',
        "'s",
        "'LL",
        '...',
        '1234',
        'word',
        'Straße',
        '漢字',
        '-\n',
        '\u00a0',
      ),
    );
    fc.assert(
      fc.property(fc.array(part), (parts) => {
        const text = parts.join('');
        expect(countTokens(text)).toBe(encode(text, asText).length);
      }),
      { seed: 20_281, numRuns: 500 },
    );
  });

  it('terminates on unbroken runs', () => {
    for (const run of ['a', 'ab', '=', ' ', '\n', '漢', '🙂', '-=', '🙂-']) {
      const text = run.repeat(200_000);
      const count = countTokens(text);
      expect(count).toBeGreaterThan(100);
      expect(count).toBeLessThanOrEqual(Buffer.byteLength(text));
    }
  });
});

describe('keepTokens', () => {
  it('keeps the first tokens', () => {
    expect(keepTokens('hello world again', 2)).toBe('hello world');
    expect(keepTokens('hello', 0)).toBe('');
    expect(keepTokens('hello world', 50)).toBe('hello world');
  });

  it('drops a character that the cut would split', () => {
    const text = '🙂🙃🫠';
    const tokens = encode(text).length;
    for (let limit = 0; limit <= tokens; limit++) {
      const kept = keepTokens(text, limit);
      expect(text.startsWith(kept)).toBe(true);
      expect(Buffer.from(kept).toString()).toBe(kept);
    }
    expect(keepTokens(text, 1)).toBe('');
  });

  it('returns the longest prefix that fits, for any text', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', maxLength: 60 }), fc.nat(30), (text, limit) => {
        const kept = keepTokens(text, limit);
        expect(text.startsWith(kept)).toBe(true);
        if (countTokens(text) <= limit) expect(kept).toBe(text);
        else expect(kept.length).toBeLessThan(text.length);
      }),
      { seed: 20_265 },
    );
  });

  it('keeps exactly the requested number of tokens of a long text', () => {
    const text = 'word and more words, '.repeat(20_000);
    expect(countTokens(keepTokens(text, 30_001))).toBe(30_001);
  });
});
