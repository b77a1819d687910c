/** Media values: a URL, a data URI, or base64 in every variant. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { MediaError, readMediaValue } from './load.ts';

const MAX_BYTES = 1_000_000;
const bytesOf = (text: string) => {
  const value = readMediaValue(text, MAX_BYTES);
  if (value.from !== 'bytes') throw new Error('not bytes');
  return Buffer.from(value.bytes);
};

describe('a media value', () => {
  it('can be base64 in every variant', () => {
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

  it('can be a data URI with its type', () => {
    expect(readMediaValue('data:image/PNG;charset=x;base64,aGk=', MAX_BYTES)).toMatchObject({ mediaType: 'image/png' });
    expect(bytesOf('DATA:image/png;BASE64,aGk=').toString()).toBe('hi');
  });

  it('can be a URL', () => {
    expect(readMediaValue('HTTPS://example.test/a b', MAX_BYTES)).toMatchObject({ from: 'address' });
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
  ])('cannot be %j', (text) => {
    expect(() => readMediaValue(text, MAX_BYTES)).toThrow(MediaError);
  });

  it('is limited in size', () => {
    expect(() => readMediaValue('A'.repeat(1_400_000), MAX_BYTES)).toThrow('at most 1 MB');
    expect(() => readMediaValue('A'.repeat(50_000_000), MAX_BYTES)).toThrow('at most 1 MB');
    expect(bytesOf('A'.repeat(1_333_332))).toHaveLength(999_999);
  });
});
