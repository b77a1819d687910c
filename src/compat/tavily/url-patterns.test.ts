import { describe, expect, it } from 'vitest';
import { compilePatterns } from '#crawl/index.ts';
import { type UrlRules, urlPatterns } from './url-patterns.ts';

const NONE: UrlRules = { select_paths: [], select_domains: [], exclude_paths: [], exclude_domains: [] };

/** Which of the URLs a crawl with these rules follows. */
async function followed(rules: Partial<UrlRules>, urls: readonly string[]): Promise<string[]> {
  const { include, exclude } = await urlPatterns({ ...NONE, ...rules });
  const isIncluded = include.length > 0 ? await compilePatterns(include, 'include') : () => true;
  const isExcluded = await compilePatterns(exclude, 'exclude');
  return urls.filter((url) => isIncluded(new URL(url)) && !isExcluded(new URL(url)));
}

describe('expressions for paths', () => {
  const URLS = ['https://docs.example/docs/a', 'https://docs.example/x/docs', 'https://docs.example/blog?q=/docs'];

  it.each<[string, number[]]>([
    ['/docs/.*', [0]],
    ['docs', [0, 1]],
    ['^/docs', [0]],
    ['docs$', [1]],
    ['^/(?:docs|blog)', [0, 2]],
    ['.*', [0, 1, 2]],
    ['blog$', [2]],
    ['example', []],
  ])('%s', async (expression, expected) => {
    const urls = expected.map((at) => URLS[at]);
    expect(await followed({ select_paths: [expression] }, URLS)).toEqual(urls);
    expect(await followed({ exclude_paths: [expression] }, URLS)).toEqual(URLS.filter((url) => !urls.includes(url)));
  });
});

describe('expressions for domains', () => {
  const URLS = ['https://docs.example.com/', 'http://example.com:8080/docs', 'https://example.com.evil.test/'];

  it.each<[string, number[]]>([
    ['^docs\\.example\\.com$', [0]],
    ['^example\\.com$', [1]],
    ['example\\.com$', [0, 1]],
    ['docs', [0]],
    ['evil', [2]],
  ])('%s', async (expression, expected) => {
    const urls = expected.map((at) => URLS[at]);
    expect(await followed({ select_domains: [expression] }, URLS)).toEqual(urls);
    expect(await followed({ exclude_domains: [expression] }, URLS)).toEqual(URLS.filter((url) => !urls.includes(url)));
  });

  it('and for paths must both match', async () => {
    const rules = { select_domains: ['example\\.com$'], select_paths: ['/docs'] };
    expect(await followed(rules, URLS)).toEqual([URLS[1]]);
  });
});

it.each([
  [{ select_paths: ['^/a$|^/b$'] }, 'select_paths'],
  [{ exclude_domains: ['('] }, 'exclude_domains.0'],
])('refuses %j', async (rules, path) => {
  await expect(urlPatterns({ ...NONE, ...rules })).rejects.toMatchObject({
    name: 'ParamValidationError',
    facts: { path },
  });
});
