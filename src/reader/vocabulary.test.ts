import { encode } from 'gpt-tokenizer/encoding/cl100k_base';
import { beforeAll, describe, expect, it } from 'vitest';
import { decodeTokens, encodeTokens, loadTokens } from './tokens.ts';
import { openVocabulary, packVocabulary } from './vocabulary.ts';

/** Each byte, then `ab`, `bc`, `abc` and `é`. */
const tiktoken = [...Array.from({ length: 256 }, (_, byte) => [byte]), 'ab', 'bc', 'abc', 'é']
  .map((bytes, token) => `${Buffer.from(bytes as string).toString('base64')} ${token}`)
  .join('\n');
const AB = 256;
const BC = 257;
const ABC = 258;
const E_ACUTE = 259;

describe('openVocabulary', () => {
  const { encode, count, bytesOf } = openVocabulary(packVocabulary(tiktoken));
  const a = 'a'.charCodeAt(0);
  const c = 'c'.charCodeAt(0);

  it('merges the pair with the lowest number first, and the first of equal ones', () => {
    expect(encode('abc')).toEqual([ABC]);
    expect(encode('abcbc')).toEqual([ABC, BC]);
    expect(encode('aab')).toEqual([a, AB]);
    expect(encode('ababc')).toEqual([AB, ABC]);
    expect(encode('cc')).toEqual([c, c]);
    expect(encode('')).toEqual([]);
  });

  it('encodes text outside ASCII by its UTF-8 bytes', () => {
    expect(encode('aé')).toEqual([a, E_ACUTE]);
    expect(encode('è')).toEqual([...Buffer.from('è')]);
    expect(encode('\ud800')).toEqual([...Buffer.from('\ufffd')]);
  });

  it('counts as many tokens as it encodes, also of a word longer than those before', () => {
    for (const word of ['', 'a', 'abcab', 'é'.repeat(2_000), 'cab'])
      expect([word.length, count(word)]).toEqual([word.length, encode(word).length]);
  });

  it('tells the bytes of a token', () => {
    expect(Buffer.from(bytesOf(ABC)!).toString()).toBe('abc');
    expect(bytesOf(E_ACUTE + 1)).toBeUndefined();
    expect(bytesOf(-1)).toBeUndefined();
    expect(bytesOf(0.5)).toBeUndefined();
  });
});

describe('packVocabulary', () => {
  it('refuses a vocabulary with a gap or a token that is too long', () => {
    expect(() => packVocabulary('YQ== 0\nYg== 2')).toThrow('no token 1');
    expect(() => packVocabulary(`${Buffer.alloc(256).toString('base64')} 0`)).toThrow('256 bytes');
  });
});

describe('encodeTokens', () => {
  beforeAll(loadTokens);

  it('encodes as the reference implementation does', () => {
    for (const text of ['hello world', 'Straße 12345, 漢字 👩‍👩‍👧', '<|endoftext|>', "we'LL\n\n  go", 'a \ud800 b'])
      expect(encodeTokens(text)).toEqual(encode(text, { disallowedSpecial: new Set<string>() }));
  });

  it('gives tokens whose text is the encoded one', () => {
    const text = '\ufeffusing 漢字かな交じり文 🙂 naïve';
    expect(decodeTokens(encodeTokens(text))).toBe(text);
  });

  it('encodes a byte order mark as the token that the vocabulary has for it', () => {
    expect(encodeTokens('\ufeff')).toHaveLength(1);
  });
});
