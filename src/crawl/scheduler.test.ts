/** Tests the scheduler with a frontier in memory, without a database or a reader. */
import { expect, it } from 'vitest';
import { problem } from '#errors.ts';
import type { WaitingPage } from './frontier.ts';
import type { PageResult } from './page-job.ts';
import { createPoliteness } from './politeness.ts';
import { Scheduler, type SchedulerOptions } from './scheduler.ts';
import type { JobRow } from './schema.ts';

const JOB = { id: 'crawl', read: 0, done: 0, failed: 0, last_seq: 0, sitemaps_due: 0 } as JobRow;

const pageAt = (url: string): WaitingPage => ({
  ...{ key: url, url, host: new URL(url).host },
  ...{ rank: 2, depth: 1, tries: 0 },
});

/**
 * Runs the scheduler over the URLs. `read` reads each URL and may add others. Returns the order of reading and how the
 * run ended.
 */
async function runOver(
  urls: readonly string[],
  read: (url: string, signal: AbortSignal) => Promise<Partial<PageResult>> = async () => ({}),
  options: Partial<SchedulerOptions> = {},
) {
  const waiting = urls.map(pageAt);
  const order: string[] = [];
  const failedHosts: string[] = [];
  let job = JOB;
  let active = 0;
  let mostActive = 0;
  const remove = (key: string) => {
    const at = waiting.findIndex((page) => page.key === key);
    if (at >= 0) waiting.splice(at, 1);
  };
  const scheduler = new Scheduler({
    job: JOB,
    plan: { starts: [urls[0]!], limit: 100, concurrency: 1 },
    signal: new AbortController().signal,
    cancelling: () => false,
    frontier: {
      hosts: async () => [...new Set(waiting.map(({ host }) => host))],
      nextPages: async (host, _, limit) => waiting.filter((page) => page.host === host).slice(0, limit),
      readyAt: async (host) => (waiting.some((page) => page.host === host) ? 0 : undefined),
      hasWaitingStarts: async () => false,
    },
    politeness: createPoliteness(10, Date.now),
    now: Date.now,
    hasWaitingJobs: async () => false,
    async runPage({ key, url }, signal) {
      order.push(url);
      mostActive = Math.max(mostActive, ++active);
      try {
        const result = await read(url, signal);
        remove(key);
        const isFailure = 'failure' in result;
        const counts = { done: job.done + (isFailure ? 0 : 1), failed: job.failed + (isFailure ? 1 : 0) };
        job = { ...job, ...counts, read: job.read + 1, last_seq: job.last_seq + 1 };
        return { kind: 'written', progress: { job, hosts: [] }, ...result } as PageResult;
      } finally {
        active--;
      }
    },
    addSitemaps: async function* () {},
    async failHost(host) {
      failedHosts.push(host);
      for (const page of waiting.filter((one) => one.host === host)) remove(page.key);
      return job;
    },
    onChange() {},
    ...options,
  });
  return { end: await scheduler.run(), order, failedHosts, mostActive };
}

it('reads one page of each host per round', async () => {
  const { end, order } = await runOver(['https://a.example/1', 'https://a.example/2', 'https://b.example/1']);
  expect(end).toEqual({ kind: 'completed' });
  expect(order).toEqual(['https://a.example/1', 'https://b.example/1', 'https://a.example/2']);
});

it('stops at the page limit, counting pages being read', async () => {
  const urls = ['a', 'b', 'c', 'd'].map((name) => `https://${name}.example/`);
  const { order } = await runOver(urls, undefined, { plan: { starts: urls, limit: 2, concurrency: 1 } });
  expect(order).toHaveLength(2);
});

it('reads no more pages at once than the process allows', async () => {
  const urls = ['a', 'b', 'c', 'd'].map((name) => `https://${name}.example/`);
  const slow = () => new Promise<Partial<PageResult>>((resolve) => setTimeout(resolve, 10, {}));
  const { order, mostActive } = await runOver(urls, slow, { politeness: createPoliteness(2, Date.now) });
  expect(order).toHaveLength(4);
  expect(mostActive).toBe(2);
});

it('fails if every start failed, with the last failure as its error', async () => {
  const failure = problem('AssertionFailureError', { message: 'No answer' });
  expect((await runOver(['https://a.example/'], async () => ({ failure }))).end).toEqual({
    kind: 'failed',
    error: 'No answer',
  });
});

it('fails the other pages of a host that does not answer', async () => {
  const failure = problem('AssertionFailureError', { message: 'No answer' });
  const urls = ['https://a.example/1', 'https://a.example/2', 'https://b.example/1'];
  const { end, order, failedHosts } = await runOver(urls, async (url) =>
    url.startsWith('https://a.') ? { failure, hostFailure: failure } : {},
  );
  expect(end).toEqual({ kind: 'completed' });
  expect(failedHosts).toEqual(['a.example']);
  expect(order).not.toContain('https://a.example/2');
});

it('gives up its lease when nothing can be read for a long time', async () => {
  const politeness = createPoliteness(10, Date.now);
  politeness.pause('a.example', 60_000);
  const { end, order } = await runOver(['https://a.example/'], undefined, { politeness });
  expect(end).toMatchObject({ kind: 'later', readyAt: expect.closeTo(Date.now() + 60_000, -4) });
  expect(order).toEqual([]);
});

it('ends after the pages being read once it is cancelled', async () => {
  let isCancelling = false;
  const urls = ['https://a.example/1', 'https://a.example/2'];
  const read = async () => {
    isCancelling = true;
    return {};
  };
  const { end, order } = await runOver(urls, read, { cancelling: () => isCancelling });
  expect(end).toEqual({ kind: 'cancelled' });
  expect(order).toEqual(['https://a.example/1']);
});

it('throws what a page job throws, after aborting the others', async () => {
  const aborted: string[] = [];
  const read = (url: string, signal: AbortSignal) =>
    new Promise<Partial<PageResult>>((_, reject) => {
      if (url === 'https://b.example/') setTimeout(reject, 10, new Error('no balance'));
      signal.addEventListener('abort', () => {
        aborted.push(url);
        reject(signal.reason);
      });
    });
  await expect(runOver(['https://a.example/', 'https://b.example/'], read)).rejects.toThrow('no balance');
  expect(aborted).toContain('https://a.example/');
});
