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

it('takes time in proportion to the address, and says which pattern is none', async () => {
  const test = await compilePatterns(['/^(a+)+$/', `/${'**a'.repeat(100)}`], 'include');
  expect(test(new URL(`https://a.example/${'a'.repeat(1_900)}!`))).toBe(false);
  await expect(compilePatterns(['/x', '/(/'], 'exclude')).rejects.toMatchObject({
    name: 'ParamValidationError',
    facts: { path: 'exclude.1' },
  });
});
