/** Tests one page job with a fake reader and a writer that only records calls. */
import { expect, it } from 'vitest';
import { problem } from '#errors.ts';
import { parseRobots } from '#net/robots/robots-rules.ts';
import { resolve } from '#reader/index.ts';
import { type FakePage, unreached, webReader } from './crawl.suite.ts';
import { createFilter } from './filter.ts';
import type { WaitingPage } from './frontier.ts';
import { normalizeUrl } from './normalize-url.ts';
import type { Outcome } from './outcome.ts';
import { type PageContext, runPageJob } from './page-job.ts';
import { createPoliteness } from './politeness.ts';
import type { CrawlPlan } from './request.ts';
import { type JobRow, RANK } from './schema.ts';

const A = 'https://a.example/';
const NOW = 1_000;
const PLAN: CrawlPlan = {
  ...{ starts: [A], limit: 10, depth: 3, scope: 'host', include: [], exclude: [], sitemap: false, robots: true },
  ...{ delayMs: 100, concurrency: 1 },
};
const { signal } = new AbortController();

const pageAt = (url: string, some: Partial<WaitingPage> = {}): WaitingPage => ({
  ...{ key: normalizeUrl(url)!.key, url, host: new URL(url).host },
  ...{ rank: RANK.link, depth: 1, tries: 0 },
  ...some,
});

async function jobOver(read: () => FakePage | Promise<FakePage>, some: Partial<PageContext> = {}, robotsFile = '') {
  const written: Outcome[] = [];
  const postponed: { readonly page: WaitingPage; readonly readyAt: number; readonly rank: number }[] = [];
  const noted: { readonly status: number; readonly reservation: unknown }[] = [];
  const politeness = createPoliteness(10, () => NOW);
  const filter = await createFilter(PLAN, [A]);
  const context: PageContext = {
    ...{ jobId: 'crawl', plan: PLAN, options: resolve({}), filter, politeness, now: () => NOW, retryMs: [50, 500] },
    payer: { owner: 'key', account: 'account' },
    reader: webReader(read),
    robots: { rules: async () => parseRobots(robotsFile), check: async () => {} },
    billing: {
      reserve: async () => 'reserved',
      note: ({ status }, reservation) => void noted.push({ status, reservation }),
    },
    writer: {
      async writeOutcome(_, outcome) {
        written.push(outcome);
        return { isDelivered: outcome.kind === 'page', hosts: [], job: {} as JobRow };
      },
      postpone: async (page, retry) => void postponed.push({ page, ...retry }),
      findDuplicate: async () => undefined,
    },
    ...some,
  };
  const run = (page: WaitingPage = pageAt(A)) => runPageJob(page, context, signal);
  return { run, written, postponed, noted, politeness, filter };
}

it('reads a page, writes it with the links in scope, and lets its host rest', async () => {
  const read = () => ({ links: [`${A}b`, 'https://c.example/'] });
  const { run, written, noted, politeness } = await jobOver(read);
  expect(await run()).toMatchObject({ kind: 'written' });
  expect(written).toMatchObject([{ kind: 'page', found: [{ normalized: { url: `${A}b` }, depth: 2 }] }]);
  expect(noted).toEqual([]);
  expect(politeness.readyAt('a.example', { maxAtOnce: 1 })).toBe(NOW + 100);
});

it('does not start while another job holds the slot of the host', async () => {
  const { run, written, politeness } = await jobOver(() => ({}));
  await politeness.acquire('a.example', { maxAtOnce: 1 }, { maxWaitMs: 0, signal });
  expect(await run()).toEqual({ kind: 'not-started' });
  expect(written).toEqual([]);
});

it('postpones a transient failure by the configured delay', async () => {
  const { run, written, postponed, noted } = await jobOver(() => ({ status: 500 }));
  expect(await run()).toEqual({ kind: 'postponed', host: 'a.example', readyAt: NOW + 50 });
  expect(postponed).toMatchObject([{ rank: RANK.retry, page: { tries: 0 } }]);
  expect(written).toEqual([]);
  expect(noted).toEqual([{ status: 422, reservation: 'reserved' }]);
});

it('fails a page after its last retry, and one that is gone at once', async () => {
  const flaky = await jobOver(() => ({ status: 500 }));
  expect(await flaky.run(pageAt(A, { tries: 2 }))).toMatchObject({ kind: 'written', failure: { code: 422 } });
  const gone = await jobOver(() => ({ status: 404 }));
  expect(await gone.run()).toMatchObject({ kind: 'written' });
  expect(gone.written).toMatchObject([{ kind: 'failed', status: 404 }]);
});

it('backs off as long as a busy host asks', async () => {
  const { run, postponed, politeness } = await jobOver(() => ({ status: 503, retryAfter: '7' }));
  expect(await run()).toMatchObject({ kind: 'postponed', readyAt: NOW });
  expect(postponed).toMatchObject([{ rank: RANK.link }]);
  expect(politeness.readyAt('a.example', { maxAtOnce: 1 })).toBe(NOW + 7_000);
});

it('does not count a try against a page while this server is overloaded', async () => {
  const { run, postponed } = await jobOver(() => {
    throw problem('ServiceNodeResourceDrainError');
  });
  expect(await run()).toEqual({ kind: 'postponed', host: 'a.example', readyAt: NOW + 2_000 });
  expect(postponed).toMatchObject([{ page: { tries: -1 } }]);
});

it('reports a host that was not reached fifteen times in a row', async () => {
  const { run, politeness } = await jobOver(() => {
    throw unreached();
  });
  for (let at = 0; at < 14; at++) politeness.report('a.example', { isReached: false });
  expect(await run()).toMatchObject({
    kind: 'written',
    hostFailure: { message: expect.stringContaining('The host does not respond') },
  });
});

it('skips a URL that robots.txt forbids, without a request', async () => {
  const { run, written, politeness } = await jobOver(() => ({}), {}, 'User-agent: *\nDisallow: /');
  await run();
  expect(written).toEqual([{ kind: 'skipped', reason: 'robots', read: false }]);
  expect(politeness.readyAt('a.example', { maxAtOnce: 1 })).toBe(NOW);
});

it('moves the scope to where a start redirects; another page that leaves it is skipped', async () => {
  const read = () => ({ url: 'https://www.a.example/' });
  const start = await jobOver(read);
  await start.run(pageAt(A, { rank: RANK.start }));
  expect(start.filter.bases).toEqual(['https://www.a.example/']);
  expect(start.written).toMatchObject([{ kind: 'page', bases: ['https://www.a.example/'] }]);
  const link = await jobOver(read);
  await link.run(pageAt(`${A}b`));
  expect(link.written).toMatchObject([{ kind: 'skipped', reason: 'scope', to: 'https://www.a.example/' }]);
});
