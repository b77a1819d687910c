import { describe, expect, test } from 'vitest';
import { defaultUserAgent, identify } from './user-agent.ts';

describe('user agent', () => {
  test('is by default a desktop Chrome with the version of our Chromium, not headless', () => {
    expect(defaultUserAgent(150)).toBe(
      'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/150.0.0.0 Safari/537.36',
    );
    expect(identify({ host: 'a.example', chromiumMajor: 150 }).userAgent).toBe(defaultUserAgent(150));
    expect(defaultUserAgent()).not.toMatch(/headless/i);
  });

  test.each(['Lectern', 'bot'])('%s names this program and its version', (userAgent) => {
    expect(identify({ userAgent, host: 'a.example', version: '1.2.3' })).toEqual({
      userAgent: 'Lectern/1.2.3 (+automated reader)',
      hints: {},
    });
  });

  // Values that refer to the caller's User-Agent are resolved earlier, if the caller sent one.
  test.each(['browser', 'auto', 'inherit', 'pass-through'])('%s alone is the default', (userAgent) => {
    expect(identify({ userAgent, host: 'a.example' })).toEqual(identify({ host: 'a.example' }));
  });

  test('is constant for a host and differs between hosts with `diversify`', () => {
    const of = (host: string) => identify({ userAgent: 'diversify', host, chromiumMajor: 150 });
    expect(of('a.example')).toEqual(of('a.example'));
    const all = Array.from({ length: 100 }, (_, i) => of(`host${i}.example`));
    expect(new Set(all.map(({ userAgent }) => userAgent)).size).toBe(5);
    for (const { userAgent, hints } of all) {
      const platform = /Windows/.test(userAgent) ? '"Windows"' : /Mac/.test(userAgent) ? '"macOS"' : '"Linux"';
      expect(hints['sec-ch-ua-platform']).toBe(platform);
      expect(hints['sec-ch-ua']).toContain(/Edg\//.test(userAgent) ? 'Microsoft Edge' : 'Google Chrome');
      expect(hints['sec-ch-ua']).toContain('v="150"');
    }
  });

  test('is any other text unchanged, without contradicting client hints', () => {
    expect(identify({ userAgent: ' curl/8 ', host: 'a.example' })).toEqual({ userAgent: 'curl/8', hints: {} });
    expect(identify({ userAgent: '  ', host: 'a.example' }).userAgent).toBe(defaultUserAgent());
  });
});
