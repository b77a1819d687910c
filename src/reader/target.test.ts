// Full run only: changes state of the whole process.
import { describe, expect, it } from 'vitest';
import { Problem } from '#errors.ts';
import { blobUrl, cleanUrl, decodePathTarget } from './target.ts';

describe('cleanUrl', () => {
  it.each([
    ['https://a.b/c?d=e', 'https://a.b/c?d=e'],
    ['  https://a.b  ', 'https://a.b/'],
    ['a.b/c', 'http://a.b/c'],
    ['//a.b/c', 'http://a.b/c'],
    ['https:/a.b', 'https://a.b/'],
    ['https://https://a.b', 'https://a.b/'],
    ['http://https://a.b/x', 'https://a.b/x'],
    ['view-source:https://a.b', 'https://a.b/'],
    ['a.b:8080/c', 'http://a.b:8080/c'],
    ['localhost:8080', 'http://localhost:8080/'],
    ['HTTP://A.B/C', 'http://a.b/C'],
    ['http://bücher.example/', 'http://xn--bcher-kva.example/'],
    ['https://a.b:443/', 'https://a.b/'],
    ['http://a.b:80/', 'http://a.b/'],
    ['https://a.b/x/../y/./z', 'https://a.b/y/z'],
    ['https://me:secret@a.b/', 'https://a.b/'],
    ['https://a.b//c///d', 'https://a.b/c/d'],
    ['https://a.b/?utm_source=x&b=2&UTM_medium=y&a=1', 'https://a.b/?b=2&a=1'],
    ['https://a.b/?utm_source=x', 'https://a.b/'],
    ['https://a.b/?q=a%26b&c', 'https://a.b/?q=a%26b&c'],
    ['https://a.b/#:~:text=hello', 'https://a.b/'],
    ['https://a.b/#part:~:text=hello', 'https://a.b/#part'],
    ['https://a.b/#/route', 'https://a.b/#/route'],
    ['https://www.a.b./', 'https://www.a.b/'],
    ['https://a.b/go?to=https://c.d', 'https://a.b/go?to=https://c.d'],
    ['http://0x7f.1/', 'http://127.0.0.1/'],
    ['http://[::1]:8080/', 'http://[::1]:8080/'],
  ])('%s', (typed, clean) => expect(cleanUrl(typed)).toBe(clean));

  it.each([
    ['https://reader.test/https://a.b/', 'https://a.b/'],
    ['reader.test/a.b', 'http://a.b/'],
    ['https://other.test/https://a.b/', 'https://other.test/https:/a.b/'],
    ['https://reader.test/', 'https://reader.test/'],
  ])('removes the host of this server: %s', (typed, clean) => expect(cleanUrl(typed, ['reader.test'])).toBe(clean));

  it.each([
    'ftp://a.b/',
    'file:///etc/passwd',
    'javascript:alert(1)',
    'mailto:a@b.c',
    'http://',
    'http://a b/',
    '',
    'data:text/html,x',
    'chrome://version',
  ])('refuses %j with path url', (typed) => {
    let failure: unknown;
    try {
      cleanUrl(typed);
    } catch (error) {
      failure = error;
    }
    expect(failure).toBeInstanceOf(Problem);
    expect(failure).toMatchObject({ name: 'ParamValidationError', facts: { path: 'url' } });
  });

  it('is fast on long hostile text', () => {
    const text = `${'a:'.repeat(20_000)}/`;
    expect(() => cleanUrl(text)).toThrow(Problem);
  });
});

describe('decodePathTarget', () => {
  it.each([
    ['/https://a.b/c?d=e', 'https://a.b/c?d=e'],
    ['/https%3A%2F%2Fa.b%2Fc%3Fd%3De', 'https://a.b/c?d=e'],
    ['/https://a.b/100%', 'https://a.b/100%'],
    ['/https://a.b/?q=a%2526b', 'https://a.b/?q=a%26b'],
    ['/', ''],
  ])('%s', (path, target) => expect(decodePathTarget(path)).toBe(target));
});

it('derives a URL from the content of a document without one', () => {
  expect(blobUrl('<p>')).toBe(blobUrl(Buffer.from('<p>')));
  expect(blobUrl('<p>')).toMatch(/^blob:[0-9a-f]{64}$/);
});
