/** Media values: an address, a data URI, base64 in every spelling, and nothing else. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { MediaError, readMediaValue } from './value.ts';

const MOST = 1_000_000;
const bytesOf = (text: string) => {
  const value = readMediaValue(text, MOST);
  if (value.from !== 'bytes') throw new Error('not bytes');
  return Buffer.from(value.bytes);
};

describe('a media value', () => {
  it('is base64 in every spelling', () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 1, maxLength: 300 }), (bytes) => {
        const plain = Buffer.from(bytes).toString('base64');
        const lines = plain.replace(/(.{7})/g, '$1\r\n');
        for (const text of [plain, lines, Buffer.from(bytes).toString('base64url'), `data:;base64,${plain}`])
          expect(bytesOf(text).equals(bytes)).toBe(true);
      }),
      { seed: 5, numRuns: 200 },
    );
  });

  it('is a data URI with its type', () => {
    expect(readMediaValue('data:image/PNG;charset=x;base64,aGk=', MOST)).toMatchObject({ mediaType: 'image/png' });
    expect(bytesOf('DATA:image/png;BASE64,aGk=').toString()).toBe('hi');
  });

  it('is an address', () => {
    expect(readMediaValue('HTTPS://example.test/a b', MOST)).toMatchObject({ from: 'address' });
  });

  it.each([
    '',
    ' \n',
    '=',
    'a.b',
    'file:///etc/passwd',
    'ftp://x/y',
    'data:image/png,hello',
    'data:x',
    'http://',
    'äöü',
    'a====',
  ])('%j is none', (text) => {
    expect(() => readMediaValue(text, MOST)).toThrow(MediaError);
  });

  it('is no larger than it may be', () => {
    expect(() => readMediaValue('A'.repeat(1_400_000), MOST)).toThrow('at most 1 MB');
    expect(() => readMediaValue('A'.repeat(50_000_000), MOST)).toThrow('at most 1 MB');
    expect(bytesOf('A'.repeat(1_333_332))).toHaveLength(999_999);
  });
});
