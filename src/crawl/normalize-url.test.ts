import { expect, it } from 'vitest';
import { normalizeUrl } from './normalize-url.ts';

const keyOf = (url: string) => normalizeUrl(url)?.key;

it('is requested without tracking parameters and fragment', () => {
  const cleaned = {
    'https://A.example:443/x?utm_source=a&b=2&gclid=c#part': 'https://a.example/x?b=2',
    'https://a.example/x;jsessionid=1F.node1?b=2': 'https://a.example/x?b=2',
    'https://a.example/x?PHPSESSID=1': 'https://a.example/x',
    'https://a.example/#/route': 'https://a.example/#/route',
    'https://a.example/x?b=2&a=1&c': 'https://a.example/x?b=2&a=1&c',
    'https://a.example/index.html': 'https://a.example/index.html',
  };
  for (const [given, url] of Object.entries(cleaned)) expect(normalizeUrl(given)?.url).toBe(url);
  for (const none of ['mailto:a@b.example', 'javascript:f()', 'http://[', `https://a.example/${'x'.repeat(2_000)}`])
    expect(normalizeUrl(none)).toBeUndefined();
});

it('is the same page whatever the scheme, the order of parameters and the index file, and differs otherwise', () => {
  const same = [
    ['http://a.example/x', 'https://a.example/x'],
    ['https://a.example/x?a=1&b=2', 'https://a.example/x?b=2&a=1'],
    ['https://a.example/x/', 'https://a.example/x/index.html'],
    ['https://a.example/', 'https://a.example/index.php'],
  ] as const;
  const other = [
    ['https://a.example/x', 'https://a.example/x/'],
    ['https://a.example/x', 'https://a.example/X'],
    ['https://a.example/', 'https://www.a.example/'],
    ['https://a.example/index.php?p=1', 'https://a.example/?p=1'],
    ['https://a.example/index.php?p=1', 'https://a.example/index.php?p=2'],
    ['https://a.example/', 'https://a.example:8443/'],
    ['https://a.example/', 'https://a.example/#/route'],
  ] as const;
  for (const [one, two] of same) expect([one, two, keyOf(one) === keyOf(two)]).toEqual([one, two, true]);
  for (const [one, two] of other) expect([one, two, keyOf(one) === keyOf(two)]).toEqual([one, two, false]);
});
