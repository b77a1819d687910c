import { expect, it } from 'vitest';
import { problem } from '#errors.ts';
import { parseRobots } from '#net/robots/robots-rules.ts';
import { addressOf } from './address.ts';
import { createPoliteness } from './politeness.ts';
import { CrawlStoppedError, createRedirectChain, type RedirectRules } from './redirects.ts';

const A = 'https://a.example';
const B = 'https://b.example';
const { signal } = new AbortController();

/** A read that begins at the first host, where every address of both is one of the crawl. */
async function wayFrom(
  url: string,
  some: Partial<RedirectRules> = {},
  unknownFor?: number | ReturnType<typeof problem>,
) {
  const clock = { now: 1_000 };
  const manners = createPoliteness(10, () => clock.now);
  const robots = {
    rules: async (asked: string | URL) => ({
      ...parseRobots('User-agent: lectern\nDisallow: /closed'),
      ...(new URL(asked).origin === B && unknownFor !== undefined && { unknownFor }),
    }),
    check: async () => {},
  };
  const rules: RedirectRules = {
    ...{ atOnce: 1, obeys: true, isStart: false, mostMs: 0 },
    allows: (address) => [A, B].includes(new URL(address).origin),
    known: async (key) => (key === addressOf(`${B}/known`)!.key ? `${A}/first` : undefined),
    delayMs: async (address) => (address.startsWith(A) ? 100 : 200),
    ...some,
  };
  const way = createRedirectChain(addressOf(url)!, rules, { robots, manners }, signal);
  await way.begin();
  const follow = (to: string, from = url) => way.follow(new URL(to), new URL(from), signal);
  /** Why an address was not asked. */
  const stop = (to: string) =>
    follow(to).then(
      () => 'followed',
      (error: unknown) => (error instanceof CrawlStoppedError ? error.stop : error),
    );
  return { clock, manners, way, follow, stop };
}

it('leaves a host with its pause before it waits for the next, and each has its own', async () => {
  const { manners, way, follow } = await wayFrom(`${A}/`);
  await follow(`${A}/further`);
  expect(way.host).toBe('a.example');
  await follow(`${B}/`);
  expect(way.host).toBe('b.example');
  expect(manners.readyAt('a.example', { atOnce: 1 })).toBe(1_100);
  expect(manners.readyAt('b.example', { atOnce: 1 })).toBe(Number.POSITIVE_INFINITY);
  await way.end('usual', 'https://c.example/');
  expect(manners.readyAt('b.example', { atOnce: 1 })).toBe(1_200);
  expect(manners.readyAt('c.example', { atOnce: 1 })).toBe(1_200);
  await way.end();
  expect(manners.readyAt('b.example', { atOnce: 1 })).toBe(1_200);
});

it('ends where robots.txt forbids to go, and where it cannot be told', async () => {
  const { stop, way } = await wayFrom(`${A}/`);
  expect(await stop(`${B}/closed/x`)).toEqual({ kind: 'forbidden', to: `${B}/closed/x` });
  expect(await stop(`${A}/closed`)).toEqual({ kind: 'forbidden', to: `${A}/closed` });
  expect(way.host).toBe('a.example');
  const lost = problem('AssertionFailureError', { message: 'The target cannot be reached' });
  for (const by of [503, lost]) {
    expect(await (await wayFrom(`${A}/`, {}, by)).stop(`${B}/`)).toEqual({ kind: 'untold', by });
    expect(await (await wayFrom(`${A}/`, { obeys: false }, by)).stop(`${B}/`)).toBe('followed');
  }
});

it('ends where it leaves the crawl, unless it begins there or goes round within the site', async () => {
  const elsewhere = 'https://c.example/x';
  expect(await (await wayFrom(`${A}/`)).stop(elsewhere)).toEqual({ kind: 'elsewhere', to: elsewhere });
  expect(await (await wayFrom(`${A}/`, { isStart: true })).stop(elsewhere)).toBe('followed');
  expect(await (await wayFrom(`${A}/`)).stop('https://login.a.example/x')).toBe('followed');
});

it('ends at a page that is known, which may be its own beginning', async () => {
  expect(await (await wayFrom(`${A}/`)).stop(`${B}/known?utm_source=x`)).toEqual({ kind: 'known', of: `${A}/first` });
  expect(await (await wayFrom(`${B}/known`)).stop(`${B}/known#again`)).toBe('followed');
});

it('tells when a host has its next turn', async () => {
  const { manners, stop, way } = await wayFrom(`${A}/`);
  manners.rest('b.example', 9_000);
  expect(await stop(`${B}/`)).toEqual({ kind: 'later', host: 'b.example', readyAt: 10_000 });
  expect(way.host).toBeUndefined();
  expect(manners.readyAt('a.example', { atOnce: 1 })).toBe(1_100);
});
