import { expect, it } from 'vitest';
import type { GivenOptions } from '#reader/index.ts';
import { openTestCrawls, unreached, type Web } from './crawl.suite.ts';
import type { MapRequest } from './map-site.ts';

const A = 'https://a.example';
const LISTED = `<urlset><url><loc>${A}/listed?x=1</loc></url><url><loc>https://b.example/</loc></url></urlset>`;
const files = { [`${A}/sitemap.xml`]: LISTED };

const request = (more: Partial<MapRequest> = {}): MapRequest => ({
  ...{ url: A, scope: 'host', sitemap: 'include', dropsQueries: false, limit: 10, timeoutMs: 20_000 },
  ...{ options: {} as GivenOptions, account: undefined, signal: new AbortController().signal },
  ...more,
});

async function map(web: Web, more: Partial<MapRequest> = {}, robots: Record<string, string> = {}) {
  const crawls = await openTestCrawls(web, { files, robots, jobs: 0 });
  try {
    const { urls, ...rest } = await crawls.module.map(request(more));
    return { ...rest, urls: urls.map(({ url }) => url.replace(A, '')) };
  } finally {
    await crawls.close();
  }
}

const site: Web = () => ({ content: 'Home', links: [`${A}/a`, `${A}/listed`, 'https://www.a.example/sub'] });

it('lists the start, the sitemaps and the links within the scope, each page once', async () => {
  expect(await map(site)).toEqual({ urls: ['/', '/listed?x=1', '/a', '/listed'], tokens: 4, isCut: false });
  expect((await map(site, { dropsQueries: true })).urls).toEqual(['/', '/listed', '/a']);
  expect((await map(site, { scope: 'domain', sitemap: 'skip' })).urls).toContain('https://www.a.example/sub');
});

it('stops at the limit', async () => {
  expect(await map(site, { limit: 2 })).toMatchObject({ urls: ['/', '/listed?x=1'], isCut: true });
});

it('lists the sitemaps alone, also if the page cannot be read', async () => {
  const broken: Web = () => {
    throw unreached();
  };
  expect(await map(broken, { sitemap: 'only' })).toMatchObject({ urls: ['/listed?x=1'], tokens: 0 });
  expect(await map(broken)).toMatchObject({ urls: ['/listed?x=1'], failure: unreached() });
  await expect(map(broken, { sitemap: 'skip' })).rejects.toThrow('could not be reached');
});

it('obeys robots.txt', async () => {
  const robots = { [A]: 'User-agent: *\nDisallow: /' };
  await expect(map(site, {}, robots)).rejects.toMatchObject({ name: 'ResourcePolicyDenyError' });
});
