import { expect, it } from 'vitest';
import { problem } from '#errors.ts';
import { parseRobots } from '#net/robots/robots-rules.ts';
import { normalizeUrl } from './normalize-url.ts';
import { createPoliteness } from './politeness.ts';
import { CrawlStoppedError, createRedirectChain, type RedirectRules } from './redirects.ts';

const A = 'https://a.example';
const B = 'https://b.example';
const { signal } = new AbortController();

/** Follows a read's redirect chain. All URLs of A and B are within the crawl. */
async function chainFrom(
  url: string,
  some: Partial<RedirectRules> = {},
  unknownFor?: number | ReturnType<typeof problem>,
) {
  const clock = { now: 1_000 };
  const politeness = createPoliteness(10, () => clock.now);
  const robots = {
    rules: async (asked: string | URL) => ({
      ...parseRobots('User-agent: lectern\nDisallow: /closed'),
      ...(new URL(asked).origin === B && unknownFor !== undefined && { unknownFor }),
    }),
    check: async () => {},
  };
  const rules: RedirectRules = {
    ...{ maxAtOnce: 1, obeysRobots: true, isStart: false, maxWaitMs: 0 },
    allows: (address) => [A, B].includes(new URL(address).origin),
    findDuplicate: async (key) => (key === normalizeUrl(`${B}/known`)!.key ? `${A}/first` : undefined),
    delayMs: async (address) => (address.startsWith(A) ? 100 : 200),
    ...some,
  };
  const chain = createRedirectChain(normalizeUrl(url)!, rules, { robots, politeness }, signal);
  await chain.begin();
  const follow = (to: string, from = url) => chain.follow(new URL(to), new URL(from), signal);
  /** Why a redirect was not followed. */
  const stopReason = (to: string) =>
    follow(to).then(
      () => 'followed',
      (error: unknown) => (error instanceof CrawlStoppedError ? error.reason : error),
    );
  return { clock, politeness, chain, follow, stopReason };
}

it('releases a host before it waits for the next, and each rests for its own delay', async () => {
  const { politeness, chain, follow } = await chainFrom(`${A}/`);
  await follow(`${A}/further`);
  expect(chain.host).toBe('a.example');
  await follow(`${B}/`);
  expect(chain.host).toBe('b.example');
  expect(politeness.readyAt('a.example', { maxAtOnce: 1 })).toBe(1_100);
  expect(politeness.readyAt('b.example', { maxAtOnce: 1 })).toBe(Number.POSITIVE_INFINITY);
  await chain.end('usual', 'https://c.example/');
  expect(politeness.readyAt('b.example', { maxAtOnce: 1 })).toBe(1_200);
  expect(politeness.readyAt('c.example', { maxAtOnce: 1 })).toBe(1_200);
  await chain.end();
  expect(politeness.readyAt('b.example', { maxAtOnce: 1 })).toBe(1_200);
});

it('stops where robots.txt forbids the URL, and where it cannot be read', async () => {
  const { stopReason, chain } = await chainFrom(`${A}/`);
  expect(await stopReason(`${B}/closed/x`)).toEqual({ kind: 'forbidden', to: `${B}/closed/x` });
  expect(await stopReason(`${A}/closed`)).toEqual({ kind: 'forbidden', to: `${A}/closed` });
  expect(chain.host).toBe('a.example');
  const lost = problem('AssertionFailureError', { message: 'The target cannot be reached' });
  for (const by of [503, lost]) {
    expect(await (await chainFrom(`${A}/`, {}, by)).stopReason(`${B}/`)).toEqual({ kind: 'robots-unavailable', by });
    expect(await (await chainFrom(`${A}/`, { obeysRobots: false }, by)).stopReason(`${B}/`)).toBe('followed');
  }
});

it('stops where it leaves the crawl, unless it is a start or stays within the site', async () => {
  const elsewhere = 'https://c.example/x';
  expect(await (await chainFrom(`${A}/`)).stopReason(elsewhere)).toEqual({ kind: 'out-of-scope', to: elsewhere });
  expect(await (await chainFrom(`${A}/`, { isStart: true })).stopReason(elsewhere)).toBe('followed');
  expect(await (await chainFrom(`${A}/`)).stopReason('https://login.a.example/x')).toBe('followed');
});

it('stops at a page that has a result already, except at its own URL', async () => {
  expect(await (await chainFrom(`${A}/`)).stopReason(`${B}/known?utm_source=x`)).toEqual({
    kind: 'duplicate',
    of: `${A}/first`,
  });
  expect(await (await chainFrom(`${B}/known`)).stopReason(`${B}/known#again`)).toBe('followed');
});

it('stops when the next host has no free slot, and says when it has one', async () => {
  const { politeness, stopReason, chain } = await chainFrom(`${A}/`);
  politeness.pause('b.example', 9_000);
  expect(await stopReason(`${B}/`)).toEqual({ kind: 'host-not-ready', host: 'b.example', readyAt: 10_000 });
  expect(chain.host).toBeUndefined();
  expect(politeness.readyAt('a.example', { maxAtOnce: 1 })).toBe(1_100);
});
