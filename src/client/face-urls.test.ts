import { expect, it } from 'vitest';
import { resolveFaceUrls } from './face-urls.ts';

it.each([
  [undefined, ['http://127.0.0.1:3000', 'http://127.0.0.1:3001', 'http://127.0.0.1:3002', 'http://127.0.0.1:3003']],
  ['http://[::1]:80/', ['http://[::1]', undefined, undefined, undefined]],
  [
    'https://r.example.com/',
    ['https://r.example.com', 'https://s.example.com', 'https://api.example.com', 'https://flow.example.com'],
  ],
  [
    'https://api.example.com:8443/lectern/',
    ['r', 's', 'api', 'flow'].map((label) => `https://${label}.example.com:8443/lectern`),
  ],
  ['https://lectern.example', ['https://lectern.example', undefined, undefined, undefined]],
  ['http://localhost:65533', ['http://localhost:65533', 'http://localhost:65534', 'http://localhost:65535', undefined]],
  ['http://r', ['http://r', undefined, undefined, undefined]],
])('the faces of %s', (baseUrl, [reader, search, models, flow]) => {
  const { reader: r, search: s, models: m, flow: f } = resolveFaceUrls(baseUrl);
  expect([r, s, m, f]).toEqual([reader, search, models, flow]);
});

it('accepts single URLs and refuses invalid ones', () => {
  expect(resolveFaceUrls('https://lectern.example', { search: 'https://find.example/x//' }).search).toBe(
    'https://find.example/x',
  );
  expect(() => resolveFaceUrls('localhost:3000')).toThrow(/localhost:3000 is not an http/);
  expect(() => resolveFaceUrls(undefined, { flow: '' })).toThrow(TypeError);
});
