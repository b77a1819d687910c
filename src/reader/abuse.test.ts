import { describe, expect, it } from 'vitest';
import { createAbuse } from './abuse.ts';

const start = Date.parse('2026-03-01T12:00:00Z');

describe('a host whose page was stopped', () => {
  it('is refused to callers without a key until the time is over, with the time and the reason', () => {
    let now = start;
    const abuse = createAbuse({ refusalMs: 3_600_000, clock: () => now });
    abuse.add('https://bad.example/page?x=1', 'its page makes too many requests');
    const check = () => abuse.check('http://bad.example:8080/other', false);
    expect(check).toThrow(
      expect.objectContaining({
        name: 'SecurityCompromiseError',
        status: 45102,
        message:
          'This host cannot be read without a key until 2026-03-01T13:00:00.000Z: its page makes too many requests',
        facts: { path: 'url', retryAfter: 3_600 },
      }),
    );
    now += 3_599_999;
    expect(check).toThrow();
    now += 1;
    expect(check).not.toThrow();
  });

  it('is not refused to callers with a key, and no other host is refused', () => {
    const abuse = createAbuse({ refusalMs: 1_000 });
    abuse.add('https://bad.example/', 'it asks too much');
    expect(() => abuse.check('https://bad.example/', true)).not.toThrow();
    for (const url of ['https://good.example/', 'https://www.bad.example/', 'blob:0123', 'nonsense'])
      expect(() => abuse.check(url, false), url).not.toThrow();
    expect(() => abuse.check('https://bad.example/', false)).toThrow();
  });

  it('is forgotten when there are too many, oldest first, and never remembered when the time is 0', () => {
    const abuse = createAbuse({ refusalMs: 1_000, clock: () => start });
    for (let at = 0; at < 10_001; at++) abuse.add(`https://host-${at}.example/`, 'it asks too much');
    expect(() => abuse.check('https://host-0.example/', false)).not.toThrow();
    expect(() => abuse.check('https://host-1.example/', false)).toThrow();
    const off = createAbuse({ refusalMs: 0 });
    off.add('https://bad.example/', 'it asks too much');
    expect(() => off.check('https://bad.example/', false)).not.toThrow();
  });
});
