import { expect, it } from 'vitest';
import { compilePatterns } from './patterns.ts';

it.each([
  ['/docs/*', '/docs/a', true],
  ['/docs/*', '/docs/a?b=1', true],
  ['/docs/*', '/docs/a/b', false],
  ['/docs/**', '/docs/a/b', true],
  ['/docs/**', '/other/docs/a', false],
  ['/a.b', '/axb', false],
  ['/a?b', '/axb', true],
  ['*.pdf', '/deep/file.pdf', true],
  ['*.pdf', '/deep/file.pdf?x=1', true],
  ['*.pdf', '/deep/file.pdf/more', false],
  ['https://a.example/**', '/x', true],
  ['https://b.example/**', '/x', false],
  ['/\\/v[0-9]+\\//', '/docs/v12/x', true],
  ['/\\/v[0-9]+\\//', '/docs/vx/x', false],
  ['/DRAFT/i', '/a-draft', true],
  ['/DRAFT/', '/a-draft', false],
])('%s and %s: %s', async (pattern, path, fits) => {
  const test = await compilePatterns([pattern], 'include');
  expect(test(new URL(path, 'https://a.example'))).toBe(fits);
});

it('matches in linear time, and names the invalid pattern', async () => {
  const test = await compilePatterns(['/^(a+)+$/', `/${'**a'.repeat(100)}`], 'include');
  expect(test(new URL(`https://a.example/${'a'.repeat(1_900)}!`))).toBe(false);
  await expect(compilePatterns(['/x', '/(/'], 'exclude')).rejects.toMatchObject({
    name: 'ParamValidationError',
    facts: { path: 'exclude.1' },
  });
});

it.each([
  ['a large pattern', ['/(?:ab?c?d?){500}/']],
  ['nested repetition', [`/${'x{900}'.repeat(80)}/`]],
  ['a long repeated part', [`/(?:${'x?y'.repeat(150)}){999}/`]],
  ['many patterns that are large together', Array.from({ length: 50 }, () => '/(?:some|thing){100}/')],
])('%s is refused before it costs anything', async (_, patterns) => {
  await expect(compilePatterns(patterns, 'include')).rejects.toMatchObject({ name: 'ParamValidationError' });
});

it('the largest allowed number of the longest allowed patterns compiles', async () => {
  for (const pattern of [`/docs/${'*x'.repeat(245)}`, `/${'[a-z]+'.repeat(80)}/`, '/v[0-9]{1,3}\\/[0-9a-f]{8}$/']) {
    await compilePatterns(
      Array.from({ length: 50 }, () => pattern),
      'include',
    );
  }
});

it('searches for expressions in the path if asked', async () => {
  const test = await compilePatterns(['/^\\/docs\\/$/'], 'include', { expressionsOn: 'path' });
  expect(test(new URL('https://a.example/docs/?page=2'))).toBe(true);
  expect(test(new URL('https://a.example/more/docs/'))).toBe(false);
});

it('throws when patterns take too long in all, and forgives single waits', async () => {
  let now = 0;
  let stepMs = 0;
  const clock = () => {
    now += stepMs;
    return now;
  };
  const test = await compilePatterns(['/one', '/two'], 'exclude', { clock });
  const search = (times: number) => {
    for (let at = 0; at < times; at++) test(new URL(`https://a.example/${at}`));
  };
  stepMs = 900;
  test(new URL('https://a.example/one'));
  stepMs = 1;
  search(5_000);
  stepMs = 10;
  search(49);
  expect(() => search(3)).toThrow('exclude has patterns that take too long');
});
