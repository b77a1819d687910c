import { expect, it } from 'vitest';
import { resolveUserAgent } from './user-agent.ts';

const FIREFOX = 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0';

it.each([
  ['auto', FIREFOX, FIREFOX],
  ['auto', 'curl/8.1', 'auto'],
  ['Inherit', 'curl/8.1', 'curl/8.1'],
  ['pass-through', 'curl/8.1', 'curl/8.1'],
  ['inherit', undefined, 'inherit'],
  ['browser', FIREFOX, 'browser'],
  [FIREFOX, 'curl/8.1', FIREFOX],
  [undefined, FIREFOX, undefined],
])('%s in a request from %s is %s', (userAgent, own, expected) => {
  const given = userAgent === undefined ? {} : { userAgent };
  const headers = own === undefined ? {} : { 'user-agent': own };
  for (const kind of ['key', 'open'] as const)
    expect(resolveUserAgent(given, { headers }, { kind }).userAgent).toBe(expected);
});

it('replaces the User-Agent of a browser from callers without a key', () => {
  const of = (userAgent: string) => resolveUserAgent({ userAgent }, { headers: {} }, { kind: 'keyless' }).userAgent;
  expect(of(FIREFOX)).toBe('browser');
  expect(of('my-crawler/1.0')).toBe('my-crawler/1.0');
});
