import fc from 'fast-check';
import { describe, expect, test, vi } from 'vitest';
import { Problem } from '#errors.ts';
import { createRegion } from '../region.ts';
import { createProxyTable, credentialsOf, OperatorProxy, type ProxyEntry, parseProxyUrl } from './proxy-table.ts';

describe('the URL of a proxy', () => {
  test.each([
    ['http://proxy.example:8080', 'http://proxy.example:8080/'],
    [' HTTPS://Proxy.Example ', 'https://proxy.example/'],
    ['http://proxy.example:8080/path?query#part', 'http://proxy.example:8080/'],
    ['socks5://u:p@Proxy.Example', 'socks5://u:p@proxy.example:1080'],
    ['socks4://0x7f.1:80', 'socks4://127.0.0.1:80'],
    ['socks5h://[::1]:1', 'socks5h://[::1]:1'],
    ['socks4a://bücher.example', 'socks4a://xn--bcher-kva.example:1080'],
  ])('%s is %s', (text, href) => expect(parseProxyUrl(text).href).toBe(href));

  test('keeps credentials as intended', () => {
    expect(credentialsOf(parseProxyUrl('http://an%20na:p%3Aw%40@h:1'))).toEqual({
      username: 'an na',
      password: 'p:w@',
    });
    expect(credentialsOf(parseProxyUrl('socks5://a:100%@h:1'))).toEqual({ username: 'a', password: '100%' });
    expect(credentialsOf(parseProxyUrl('socks5://h:1'))).toBeUndefined();
  });

  test.each([
    '',
    'proxy.example:8080',
    '127.0.0.1:8080',
    'ftp://h:1',
    'file:///etc/passwd',
    'socks6://h:1',
    'http://',
    'http://h:0',
    'http://h:99999',
    'http://a b:1',
    'socks5://sec%00ret:x@h:1',
    'http://sec%0d%0aret:x@h:1',
    'http://sec%3Aret:x@h:1',
    `socks5://${'secret'.repeat(50)}:x@h:1`,
    `http://${'secret'.repeat(500)}`,
  ])('%j is refused without repeating it', (text) => {
    const failure = (() => {
      try {
        return parseProxyUrl(text);
      } catch (error) {
        return error;
      }
    })();
    expect(failure).toMatchObject({ name: 'ParamValidationError', facts: { path: 'proxyUrl' } });
    expect((failure as Problem).message).not.toContain('secret');
  });

  test('is parsed to a known scheme with a port, or refused, for any text', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string(),
          fc.webUrl(),
          fc.string().map((rest) => `socks5://${rest}`),
        ),
        (text) => {
          try {
            const url = parseProxyUrl(text);
            expect(url.href).toMatch(/^(?:https?|socks(?:4a?|5h?)):\/\//);
            expect(url.protocol.startsWith('http') || Number(url.port) > 0).toBe(true);
            expect(parseProxyUrl(url.href).href).toBe(url.href);
          } catch (error) {
            if (!(error instanceof Problem)) throw error;
          }
        },
      ),
      { seed: 7, numRuns: 500 },
    );
  });
});

describe('the table', () => {
  const regionOf = (region: 'any' | 'eu', euHosts: readonly string[] = []) =>
    createRegion({ region, euHosts, log: { info: vi.fn(), warn: vi.fn() } });
  const ENTRIES: ProxyEntry[] = [
    { url: 'http://de1.example:1', countries: ['de'], eu: true },
    { url: 'http://us.example:1', countries: ['us', 'ca'], eu: false },
    { url: 'socks5://de2.example', countries: ['de'], eu: true },
  ];
  const createPick = (region = regionOf('any'), entries = ENTRIES) => {
    const table = createProxyTable(entries, { region });
    return (wanted: string) => table.pick(wanted)?.host;
  };

  test('rotates through the proxies of a country', () => {
    const pick = createPick();
    expect(new Set([pick('de'), pick('de')])).toEqual(new Set(['de1.example:1', 'de2.example:1080']));
    expect([pick('ca'), pick('us')]).toEqual(['us.example:1', 'us.example:1']);
    expect(new Set(['any', 'any', 'auto'].map(pick)).size).toBe(3);
    expect(pick('none')).toBeUndefined();
  });

  test('refuses a country without proxies', () => {
    expect(() => createPick()('fr')).toThrow(
      expect.objectContaining({ name: 'AssertionFailureError', code: 422, facts: { path: 'proxy' } }),
    );
  });

  test('names the setting to fill if it is empty', () => {
    const pick = createPick(regionOf('any'), []);
    expect(pick('auto')).toBeUndefined();
    for (const wanted of ['any', 'de']) expect(() => pick(wanted)).toThrow('LECTERN_PROXIES');
  });

  test('inside the EU, ignores proxies not marked as inside the EU', () => {
    const pick = createPick(regionOf('eu'));
    expect(new Set(Array.from({ length: 6 }, () => pick('any')))).toEqual(
      new Set(['de1.example:1', 'de2.example:1080']),
    );
    expect(() => pick('us')).toThrow('marked as inside the EU');
    expect(createPick(regionOf('eu', ['us.example']))('us')).toBe('us.example:1');
  });

  test('reports an invalid entry by its position, without its text', () => {
    const entries = [...ENTRIES, { url: 'ftp://user:secret@h', countries: [], eu: false }];
    expect(() => createPick(regionOf('any'), entries)).toThrow(/^proxy 4 of the list: (?!.*secret)/);
  });

  test("marks its proxies as the operator's, unlike those of callers", () => {
    const table = createProxyTable(ENTRIES, { region: regionOf('any') });
    expect(table.pick('us')).toBeInstanceOf(OperatorProxy);
    expect(parseProxyUrl('http://us.example:1')).not.toBeInstanceOf(OperatorProxy);
  });
});
