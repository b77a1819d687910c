import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readAnyKey, readBearer } from './authorization.ts';

const MALFORMED = { kind: 'malformed' };
const key = (text: string) => ({ kind: 'key', key: text });

describe('a header that must be `Bearer key`', () => {
  it.each<[string[], object]>([
    [[], { kind: 'nothing' }],
    [[''], { kind: 'nothing' }],
    [['Bearer abc'], key('abc')],
    [['bearer   abc'], key('abc')],
    [['BEARER a-b_c.d~e+f/g='], key('a-b_c.d~e+f/g=')],
    [['Bearer'], MALFORMED],
    [['Bearer '], MALFORMED],
    [['Basic dXNlcjpwYXNz'], MALFORMED],
    [['abc'], MALFORMED],
    [['Bearer a b'], MALFORMED],
    [['Bearer\tabc'], MALFORMED],
    [['Bearer a\tb'], MALFORMED],
    [['Bearer kéy'], MALFORMED],
    [['Bearer a\u0000b'], MALFORMED],
    [['Bearerabc'], MALFORMED],
    [['Bearer abc', 'Bearer abc'], MALFORMED],
  ])('%j', (headers, expected) => expect(readBearer(headers)).toEqual(expected));

  it('accepts any visible text as a key', () => {
    fc.assert(
      fc.property(fc.stringMatching(/^[\x21-\x7e]{1,200}$/), (text) => {
        expect(readBearer([`Bearer ${text}`])).toEqual(key(text));
      }),
      { seed: 5 },
    );
  });

  it('reads a long header in linear time', () => {
    expect(readBearer([`Bearer ${' '.repeat(1_000_000)}x y`])).toEqual(MALFORMED);
  });
});

describe('a header of a scheme and a key, or a key alone', () => {
  it.each<[string[], object]>([
    [[], { kind: 'nothing' }],
    [['   '], { kind: 'nothing' }],
    [['Bearer abc'], key('abc')],
    [['abc'], key('abc')],
    [['Token\tabc'], key('abc')],
    [['Bearer a b'], MALFORMED],
    [['Bearer kéy'], MALFORMED],
    [['abc', 'def'], MALFORMED],
  ])('%j', (headers, expected) => expect(readAnyKey(headers)).toEqual(expected));
});
