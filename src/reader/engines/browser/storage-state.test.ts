import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Problem } from '#errors.ts';
import { parseStorageState } from './storage-state.ts';

const cookie = { name: 'a', value: '1', domain: 'a.example', path: '/' };
const whole = { ...cookie, expires: -1, httpOnly: false, secure: false, sameSite: 'Lax' };

describe('a submitted state', () => {
  it('gets defaults for missing fields, and loses unknown ones', () => {
    expect(parseStorageState({})).toEqual({ cookies: [], origins: [] });
    expect(parseStorageState({ cookies: [{ ...cookie, partitionKey: 'x' }], more: 1 })).toEqual({
      cookies: [whole],
      origins: [],
    });
    expect(
      parseStorageState({
        origins: [{ origin: 'HTTPS://A.example:443/', localStorage: [{ name: '', value: '' }], indexedDB: [] }],
      }),
    ).toEqual({ cookies: [], origins: [{ origin: 'https://a.example', localStorage: [{ name: '', value: '' }] }] });
  });

  it('is accepted as it was exported', () => {
    const state = {
      cookies: [
        { ...whole, domain: '.a.example', expires: 1_900_000_000.5, httpOnly: true, secure: true, sameSite: 'None' },
        { ...whole, domain: '127.0.0.1' },
        { ...whole, domain: '[::1]', path: '/deep/er' },
      ],
      origins: [{ origin: 'http://a.example:8080', localStorage: [{ name: 'ключ', value: '{"x":1}' }] }],
    };
    expect(parseStorageState(JSON.parse(JSON.stringify(state)))).toEqual(state);
  });

  it.each([
    [{ cookies: 'a=1' }, 'cookies'],
    [{ cookies: [{ ...cookie, domain: 'a.example/x' }] }, 'cookies[0].domain'],
    [{ cookies: [cookie, { ...cookie, path: 'x' }] }, 'cookies[1].path'],
    [{ cookies: [{ ...cookie, value: 'a;b' }] }, 'cookies[0].value'],
    [{ cookies: [{ ...cookie, name: 'a b' }] }, 'cookies[0].name'],
    [{ cookies: [{ ...cookie, sameSite: 'lax' }] }, 'cookies[0].sameSite'],
    [{ cookies: [{ ...cookie, sameSite: 'None' }] }, 'cookies[0]'],
    [{ cookies: [{ ...cookie, name: '__Secure-a' }] }, 'cookies[0]'],
    [{ cookies: [{ name: 'a', value: '1' }] }, 'cookies[0].domain'],
    [{ cookies: Array.from({ length: 3_001 }, () => cookie) }, 'cookies'],
    [{ origins: [{ origin: 'a.example', localStorage: [] }] }, 'origins[0].origin'],
    [{ origins: [{ origin: 'https://a.example/path' }] }, 'origins[0].origin'],
    [{ origins: [{ origin: 'https://user@a.example' }] }, 'origins[0].origin'],
    [{ origins: [{ origin: 'file:///etc' }] }, 'origins[0].origin'],
    [
      { origins: [{ origin: 'https://a.example', localStorage: [{ name: 1, value: '' }] }] },
      'origins[0].localStorage[0].name',
    ],
    [{ origins: Array.from({ length: 21 }, (_, at) => ({ origin: `https://a${at}.example` })) }, 'origins'],
    [
      { origins: [{ origin: 'https://a.example', localStorage: [{ name: 'x', value: 'x'.repeat(1024 * 1024) }] }] },
      'larger',
    ],
    ['a text', 'The state'],
    [null, 'The state'],
  ])('is refused, naming the field: %#', (value, field) => {
    let thrown: unknown;
    try {
      parseStorageState(value);
    } catch (error) {
      thrown = error;
    }
    expect(thrown).toMatchObject({ name: 'ParamValidationError', facts: { path: 'storageState' } });
    expect((thrown as Problem).message).toContain(field);
  });

  it('results in a state or a problem for any input', () => {
    fc.assert(
      fc.property(fc.anything({ withBigInt: true, withNullPrototype: true }), (value) => {
        try {
          const { cookies, origins } = parseStorageState({ cookies: [value], origins: [value] });
          expect([cookies.length, origins.length]).toEqual([1, 1]);
        } catch (error) {
          expect(error).toBeInstanceOf(Problem);
        }
      }),
      { seed: 11 },
    );
  });
});
