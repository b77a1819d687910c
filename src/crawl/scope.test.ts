import { expect, it } from 'vitest';
import { isWithin, type Scope } from './scope.ts';

const within = (url: string, start: string, scope: Scope) => isWithin(new URL(url), [new URL(start)], scope);

it.each([
  ['path', 'https://a.example/docs/intro', 'https://a.example/docs/x', true],
  ['path', 'https://a.example/docs/intro', 'http://a.example/docs/', true],
  ['path', 'https://a.example/docs/intro', 'https://a.example/docsx', false],
  ['path', 'https://a.example/docs/', 'https://a.example/', false],
  ['path', 'https://a.example/docs', 'https://a.example/x', true],
  ['host', 'https://a.example/docs/', 'https://a.example/', true],
  ['host', 'https://a.example/', 'https://www.a.example/', false],
  ['host', 'https://a.example/', 'https://a.example:8443/', false],
  ['domain', 'https://docs.a.example/', 'https://www.a.example/', true],
  ['domain', 'https://one.github.io/', 'https://two.github.io/', false],
  ['domain', 'https://shop.co.uk/', 'https://other.co.uk/', false],
  ['domain', 'http://127.0.0.1:1/', 'http://127.0.0.1:2/', false],
] as const)('%s of %s: %s is %s', (scope, start, url, is) => expect(within(url, start, scope)).toBe(is));
