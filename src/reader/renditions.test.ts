import { expect, it } from 'vitest';
import { resolve } from './options/resolve.ts';
import type { RenderTask } from './render.ts';
import type { Rendition } from './rendition.ts';
import { createRenditionCache } from './renditions.ts';

const LIMITS = { maxDepth: 256, maxElements: 80_000, proxyFactor: 5, readerlmTokens: 60_000, visionTokens: 16_000 };

const task = (text: string, options = {}, facts = {}): RenderTask => ({
  snapshot: {
    url: 'https://tea.test/',
    status: 200,
    statusText: 'OK',
    mediaType: 'text/html',
    text,
    settled: true,
    hiddenFrames: false,
    hiddenShadow: false,
    notes: [],
    engine: 'direct',
    cachedAt: 1,
    ...facts,
  },
  options: resolve(options),
  requestedUrl: 'https://tea.test/',
  limits: LIMITS,
});

const counting = (renditions = createRenditionCache()) => {
  let made = 0;
  const getOrRender = async (renderTask: RenderTask, length = 10) => {
    const make = async (): Promise<Rendition> => {
      made++;
      const page = { title: '', description: '', url: '', usage: { tokens: 0 } };
      return { page, body: 'x'.repeat(length), tokens: made };
    };
    return (await renditions.getOrRender(renderTask, make)).tokens;
  };
  return { getOrRender, made: () => made };
};

it('returns the rendition of the same copy in the same form', async () => {
  const { getOrRender } = counting();
  expect([await getOrRender(task('a')), await getOrRender(task('a'))]).toEqual([1, 1]);
});

it.each([
  ['another text', task('b')],
  ['another form', task('a', { retainLinks: 'none' })],
  ['other formats', task('a', { respondWith: 'html' })],
  ['an explanation', task('a', { explain: true })],
  ['a copy of another moment', task('a', {}, { cachedAt: 2 })],
  ['a live page', task('a', {}, { cachedAt: undefined })],
  ['a page with a picture', task('a', {}, { screenshot: new Uint8Array(1) })],
])('renders again: %s', async (_, other) => {
  const { getOrRender } = counting();
  await getOrRender(task('a'));
  expect(await getOrRender(other)).toBe(2);
});

it('stores nothing with DNT', async () => {
  const { getOrRender } = counting();
  await getOrRender(task('a', { doNotTrack: true }));
  expect(await getOrRender(task('a', { doNotTrack: true }))).toBe(2);
});

it('evicts the least recently used rendition, and never stores one that is too large', async () => {
  const { getOrRender, made } = counting(createRenditionCache(10_000));
  await getOrRender(task('a'), 4_000);
  await getOrRender(task('b'), 3_000);
  await getOrRender(task('a'));
  await getOrRender(task('c'), 3_000);
  expect(made()).toBe(3);
  expect(await getOrRender(task('a'))).toBe(1);
  expect(await getOrRender(task('b'))).toBe(4);
});
