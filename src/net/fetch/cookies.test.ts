import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type Cookie, parseSetCookies, toBrowserCookies, toJar } from './cookies.ts';

const TARGET = 'https://www.site.example/deep/page';
const parse = (input: string | string[], target = TARGET) => parseSetCookies(input, target);
const sent = (cookies: Cookie[], url: string) => toJar(cookies).getCookieStringSync(url);

describe('parsing', () => {
  test('binds a pair without attributes to the target', () => {
    expect(parse('a=b')).toEqual([
      {
        name: 'a',
        value: 'b',
        wireValue: 'b',
        domain: 'www.site.example',
        hostOnly: true,
        path: '/',
        secure: false,
        httpOnly: false,
      },
    ]);
  });

  test('reads every attribute, in any case', () => {
    expect(
      parse(
        'a=b; DOMAIN=.Site.Example; path=/x; SECURE; httponly; SameSite=strict; Expires=Wed, 21 Oct 2099 07:28:00 GMT; X=y',
      ),
    ).toEqual([
      {
        name: 'a',
        value: 'b',
        wireValue: 'b',
        domain: 'site.example',
        hostOnly: false,
        path: '/x',
        expires: Date.UTC(2099, 9, 21, 7, 28),
        secure: true,
        httpOnly: true,
        sameSite: 'Strict',
      },
    ]);
  });

  test('splits cookies only before a name and =', () => {
    const names = (input: string | string[]) => parse(input).map(({ name, value }) => `${name}:${value}`);
    expect(names('a=1, b=2,c=3')).toEqual(['a:1', 'b:2', 'c:3']);
    expect(names('a=1; Expires=Wed, 21 Oct 2099 07:28:00 GMT, b=2; Expires=Wednesday, 21-Oct-69 07:28:00 GMT')).toEqual(
      ['a:1', 'b:2'],
    );
    expect(names('a=1,2,3; Path=/, b=x, y')).toEqual(['a:1,2,3', 'b:x, y']);
    expect(names(['a=1', 'b=2, c=3'])).toEqual(['a:1', 'b:2', 'c:3']);
    expect(names('a=b=c, d==')).toEqual(['a:b=c', 'd:=']);
    expect(names(['', ' '])).toEqual([]);
  });

  test('decodes values, and sends them as written', () => {
    const values = (text: string) => parse(`a=${text}`).map(({ value, wireValue }) => [value, wireValue])[0];
    expect(values('b%20c')).toEqual(['b c', 'b%20c']);
    expect(values('s%3Aab.c%2Bd')).toEqual(['s:ab.c+d', 's%3Aab.c%2Bd']);
    expect(values('a+b/c==')).toEqual(['a+b/c==', 'a+b/c==']);
    expect(values('ü x')).toEqual(['ü x', '%C3%BC%20x']);
    expect(values('100%')).toEqual(['100%', '100%']);
    expect(values('"quoted"')).toEqual(['"quoted"', '"quoted"']);
    expect(values('\ud800')).toEqual(['\ud800', '%EF%BF%BD']);
    expect(values('')).toEqual(['', '']);
  });

  test('prefers Max-Age to Expires, and drops expired cookies', () => {
    expect(parse('a=1; Max-Age=0')).toEqual([]);
    expect(parse('a=1; Expires=Thu, 01 Jan 1970 00:00:00 GMT')).toEqual([]);
    expect(parse('a=1; Max-Age=-5; Expires=Wed, 21 Oct 2099 07:28:00 GMT')).toEqual([]);
    expect(parse('a=1; Max-Age=60; Expires=Thu, 01 Jan 1970 00:00:00 GMT')).toHaveLength(1);
    expect(parse('a=1; Max-Age=x; Expires=never')[0]).not.toHaveProperty('expires');
    expect(parse('a=1, a=2; Max-Age=0')).toEqual([]);
  });

  test('keeps the last of two cookies with the same path, and both if the paths differ', () => {
    expect(parse('a=1, a=2').map(({ value }) => value)).toEqual(['2']);
    expect(parse('a=1, a=2; Path=/x')).toHaveLength(2);
  });

  test('reads any list of pairs unchanged', () => {
    const token = fc.stringMatching(/^[A-Za-z0-9_.-]{1,20}$/);
    fc.assert(
      fc.property(fc.uniqueArray(fc.tuple(token, token), { selector: ([name]) => name, maxLength: 10 }), (pairs) => {
        const cookies = parse(pairs.map(([name, value]) => `${name}=${value}`).join(', '));
        expect(cookies.map(({ name, value }) => [name, value])).toEqual(pairs);
      }),
      { seed: 7 },
    );
  });
});

describe('refusing', () => {
  test.each([
    ['no name', '=b'],
    ['text without a pair', 'just text'],
    ['a space in the name', 'a b=c'],
    ['a control character in the name', 'a\x01=c'],
    ['a line break in the value', 'a=b\r\nX: y'],
    ['a foreign domain', 'a=b; Domain=other.example'],
    ['a domain that is only a suffix of the text', 'a=b; Domain=ite.example'],
    ['a subdomain', 'a=b; Domain=x.www.site.example'],
    ['a top-level domain', 'a=b; Domain=example'],
    ['SameSite=None without Secure', 'a=b; SameSite=None'],
    ['__Secure- without Secure', '__Secure-a=b'],
    ['__Host- with a domain', '__Host-a=b; Secure; Domain=site.example'],
    ['__Host- with a path', '__Host-a=b; Secure; Path=/x'],
    ['a cookie that is too large', `a=${'x'.repeat(5000)}`],
    ['too many cookies', Array.from({ length: 200 }, (_, i) => `c${i}=1`).join(', ')],
  ])('%s', (_, text) => {
    expect(() => parse(text)).toThrow(
      expect.objectContaining({ name: 'ParamValidationError', facts: { path: 'cookies' } }),
    );
  });

  test.each([
    ['https://www.bbc.co.uk/', 'co.uk'],
    ['https://someone.github.io/', 'github.io'],
    ['https://www.site.com/', 'com'],
  ])('a public suffix: %s, %s', (target, domain) => {
    expect(() => parse(`a=b; Domain=${domain}`, target)).toThrow('public suffix');
    expect(parse(`a=b; Domain=${new URL(target).hostname}`, target)).toHaveLength(1);
  });

  test('matches IP addresses only as a whole', () => {
    expect(() => parse('a=b; Domain=0.0.1', 'http://127.0.0.1/')).toThrow('match');
    expect(parse('a=b; Domain=127.0.0.1', 'http://127.0.0.1/')).toMatchObject([
      { domain: '127.0.0.1', hostOnly: true },
    ]);
    expect(parse('a=b; Domain=[::1]', 'http://[::1]/')).toMatchObject([{ domain: '::1', hostOnly: true }]);
  });

  test('accepts prefixes and SameSite=None whose conditions hold', () => {
    expect(
      parse('__Host-a=b; Secure; Path=/, __Secure-c=d; Secure; Domain=site.example, e=f; SameSite=None; Secure'),
    ).toHaveLength(3);
  });

  test('handles long hostile text quickly', () => {
    for (const piece of [',', ', ', ',a', '=,', ';', 'a=,', ' ,\t']) {
      try {
        parse(piece.repeat(200_000));
      } catch (error) {
        expect(error).toMatchObject({ name: 'ParamValidationError' });
      }
    }
  });
});

describe('sending', () => {
  const cookies = parse('a=1, b=2; Domain=site.example, c=3; Path=/deep, d=4; Secure, e=5; HttpOnly');

  test.each([
    ['https://www.site.example/', 'a=1; b=2; d=4; e=5'],
    ['https://www.site.example/deep', 'c=3; a=1; b=2; d=4; e=5'],
    ['https://www.site.example/deeper', 'a=1; b=2; d=4; e=5'],
    ['http://www.site.example/', 'a=1; b=2; e=5'],
    ['https://site.example/', 'b=2'],
    ['https://x.site.example/', 'b=2'],
    ['https://x.www.site.example/', 'b=2'],
    ['https://evilsite.example/', ''],
    ['https://other.example/', ''],
  ])('to %s: %s', (url, expected) => {
    expect(sent(cookies, url)).toBe(expected);
  });

  test('works for hosts that are IP addresses or have no dot', () => {
    expect(sent(parse('a=1', 'http://127.0.0.1:8080/x'), 'http://127.0.0.1:9090/')).toBe('a=1');
    expect(sent(parse('a=1', 'http://[::1]/'), 'http://[::1]/')).toBe('a=1');
    expect(sent(parse('a=1', 'http://localhost/'), 'http://localhost/')).toBe('a=1');
  });

  test('keeps two jars separate', () => {
    const one = toJar(parse('a=1'));
    one.setCookieSync('late=1', TARGET);
    expect(toJar(parse('b=2')).getCookieStringSync(TARGET)).toBe('b=2');
  });

  test('converts cookies to the form of the browser', () => {
    expect(
      toBrowserCookies(
        parse('a=x y; Path=/p; SameSite=lax; Secure, b=2; Domain=site.example; Expires=Wed, 21 Oct 2099 07:28:00 GMT'),
      ),
    ).toEqual([
      {
        name: 'a',
        value: 'x%20y',
        domain: 'www.site.example',
        path: '/p',
        httpOnly: false,
        secure: true,
        sameSite: 'Lax',
      },
      {
        name: 'b',
        value: '2',
        domain: '.site.example',
        path: '/',
        expires: Date.UTC(2099, 9, 21, 7, 28) / 1000,
        httpOnly: false,
        secure: false,
      },
    ]);
  });
});
