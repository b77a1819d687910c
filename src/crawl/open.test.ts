/** Tests crawls of fake webs in both databases: order, duplicates, retries, leases, billing, resumption. */
import { mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { problem } from '#errors.ts';
import { startFetch, startServer } from '#net/loopback.suite.ts';
import { postgresUrl } from '../../test/support/services.ts';
import type { Billing } from './billing.ts';
import {
  type FakePage,
  openTestCrawls,
  type TestCrawlOptions,
  type TestCrawls,
  unreached,
  type Web,
} from './crawl.suite.ts';

const databaseUrl = await postgresUrl();
const A = 'https://a.example';
const LONG_MS = 300_000;

/** Serves the listed pages; all others return 404. */
const webOf =
  (pages: Readonly<Record<string, FakePage>>): Web =>
  (url) =>
    pages[url.replace(A, '')] ?? { status: 404 };

async function within<T>(web: Web, options: TestCrawlOptions, work: (crawls: TestCrawls) => Promise<T>): Promise<T> {
  const crawls = await openTestCrawls(web, options);
  try {
    return await work(crawls);
  } finally {
    await crawls.close();
  }
}

describe.each(['sqlite', 'postgres'] as const)('%s', (dialect) => {
  const here: TestCrawlOptions = dialect === 'postgres' ? { databaseUrl } : {};
  const test = it.skipIf(dialect === 'postgres' && !databaseUrl);

  test('many URLs, of which three in ten fail, some for good and some for a while', {
    timeout: LONG_MS,
  }, async () => {
    const total = dialect === 'sqlite' ? 1_000 : 300;
    // A tree whose inner pages can all be read, so that all pages are found.
    const inner = total / 20;
    const kindOf = (at: number) => (at <= inner ? 'fine' : (['gone', 'flaky', 'lost'][(at * 7) % 10] ?? 'fine'));
    const tries = new Map<number, number>();
    const web: Web = (url) => {
      const at = Number(new URL(url).pathname.slice(1));
      const tried = (tries.get(at) ?? 0) + 1;
      tries.set(at, tried);
      const kind = kindOf(at);
      if (kind === 'gone') return { status: 404 };
      if (kind === 'lost') throw unreached();
      if (kind === 'flaky' && tried < 3) return { status: 500 };
      const below = Array.from({ length: 20 }, (_, link) => at * 20 + link + 1).filter((link) => link < total);
      return { links: below.map((link) => `${A}/${link}`), content: `Page number ${at}` };
    };
    await within(web, here, async (crawls) => {
      const job = await crawls.submit({ url: `${A}/`, limit: total, depth: 9, concurrency: 16 });
      const end = await crawls.ended(job.id);
      const outcomes = await crawls.results(end);
      const failed = Array.from({ length: total }, (_, at) => kindOf(at)).filter((kind) =>
        /gone|lost/.test(kind),
      ).length;
      expect(end).toMatchObject({ state: 'completed', found: total, done: total - failed, failed, skipped: 0 });
      expect(failed / total).toBeGreaterThan(0.15);
      expect(outcomes.map(({ seq }) => seq)).toEqual(outcomes.map((_, at) => at + 1));
      expect(new Set(outcomes.map(({ url }) => url)).size).toBe(total);
      expect(Math.max(...crawls.reads.values())).toBe(3);
    });
  });

  test('reads the start, then sitemaps, then links by depth', { timeout: LONG_MS }, async () => {
    const pages = {
      '/': { links: [`${A}/a`, `${A}/b`, 'https://sub.a.example/x'] },
      '/a': { links: [`${A}/deep`] },
      '/b': {},
      '/deep': {},
      '/mapped': {},
    };
    const web: Web = (url) =>
      url.startsWith('https://sub.') ? { content: url } : webOf(pages)(url, AbortSignal.any([]));
    const files = {
      [`${A}/sitemap.xml`]: `<urlset><url><loc>${A}/mapped</loc></url><url><loc>https://b.example/</loc></url></urlset>`,
    };
    await within(web, { ...here, files }, async (crawls) => {
      await crawls.ended((await crawls.submit({ url: A, scope: 'host' })).id);
      expect(crawls.order.map((url) => url.replace(A, ''))).toEqual(['/', '/mapped', '/a', '/b', '/deep']);
      const wide = await crawls.ended((await crawls.submit({ url: A, scope: 'domain' })).id);
      expect(wide.done).toBe(6);
    });
  });

  test('reads nothing while robots.txt is unavailable', { timeout: LONG_MS }, async () => {
    const web = webOf({ '/': {} });
    await within(web, { ...here, robots: { [A]: 2 } }, async (crawls) => {
      expect(await crawls.ended((await crawls.submit({ url: A, sitemap: false })).id)).toMatchObject({ done: 1 });
    });
    await within(web, { ...here, robots: { [A]: 1_000 } }, async (crawls) => {
      const end = await crawls.ended((await crawls.submit({ url: A, sitemap: false })).id);
      expect(end).toMatchObject({ state: 'failed', error: expect.stringContaining('robots.txt'), failed: 1 });
      expect(crawls.reads.size).toBe(0);
      const bold = await crawls.ended((await crawls.submit({ url: A, sitemap: false, robots: false })).id);
      expect(bold).toMatchObject({ state: 'completed', done: 1 });
    });
  });

  test('a redirect to a URL that robots.txt forbids is skipped', { timeout: LONG_MS }, async () => {
    const web = webOf({ '/': { links: [`${A}/old`] }, '/old': { url: `${A}/private/x` } });
    await within(web, { ...here, robots: { [A]: 'User-agent: *\nDisallow: /private' } }, async (crawls) => {
      const end = await crawls.ended((await crawls.submit({ url: A })).id);
      expect(await crawls.results(end)).toMatchObject([
        { event: 'page' },
        { event: 'skipped', url: `${A}/old`, reason: 'robots', to: `${A}/private/x` },
      ]);
      await expect.poll(() => crawls.charged.size, { timeout: LONG_MS }).toBe(1);
      expect(crawls.noted).toMatchObject([{ tokens: 0, status: 200 }]);
    });
  });

  test('a waiting page that another URL redirects to is its duplicate', { timeout: LONG_MS }, async () => {
    const web = webOf({
      '/': { links: [`${A}/old`, `${A}/new`] },
      '/old': { url: `${A}/new`, content: 'New' },
      '/new': { content: 'New' },
    });
    await within(web, here, async (crawls) => {
      const end = await crawls.ended((await crawls.submit({ url: A })).id);
      expect(await crawls.results(end)).toMatchObject([
        { event: 'page' },
        { event: 'page', url: `${A}/old` },
        { event: 'skipped', url: `${A}/new`, reason: 'duplicate', of: `${A}/old` },
      ]);
      expect(crawls.reads.get(`${A}/new`)).toBeUndefined();
      expect(end).toMatchObject({ found: 3, done: 2, skipped: 1 });
    });
  });

  test('pages with crossed canonical URLs are not lost, nor pages that all declare the root', {
    timeout: LONG_MS,
  }, async () => {
    const web = webOf({
      '/': { links: ['/a', '/b', '/c', '/d'].map((path) => A + path) },
      '/a': { canonical: `${A}/b` },
      '/b': { canonical: `${A}/a` },
      '/c': { canonical: `${A}/` },
      '/d': { canonical: 'https://elsewhere.example/d' },
    });
    await within(web, here, async (crawls) => {
      const end = await crawls.ended((await crawls.submit({ url: A })).id);
      expect(end).toMatchObject({ done: 4, skipped: 1 });
      expect((await crawls.results(end)).find(({ event }) => event === 'skipped')).toMatchObject({
        url: `${A}/b`,
        of: `${A}/a`,
      });
    });
  });

  test('the pages of a host that does not answer fail soon, and other hosts proceed', {
    timeout: LONG_MS,
  }, async () => {
    const gone = Array.from({ length: 500 }, (_, at) => `https://gone.a.example/${at}`);
    const web: Web = (url) => {
      if (url.startsWith('https://gone.')) throw unreached();
      return url === `${A}/` ? { links: [...gone, `${A}/b`] } : {};
    };
    await within(web, { ...here, retryMs: [50, 50] }, async (crawls) => {
      const end = await crawls.ended((await crawls.submit({ url: A, scope: 'domain', limit: 1000 })).id);
      expect(end).toMatchObject({ state: 'completed', done: 2, failed: 500 });
      expect([...crawls.reads.values()].reduce((sum, count) => sum + count, 0)).toBeLessThan(60);
    });
  });

  test('pages that redirect in circles are not retried and do not make their host fail', {
    timeout: LONG_MS,
  }, async () => {
    const circles = Array.from({ length: 40 }, (_, at) => `${A}/circle/${at}`);
    const site = await startServer((_, response) => response.writeHead(302, { location: '/' }).end());
    const failure: unknown = await startFetch([site])(site.origin).catch((error: unknown) => error);
    const web: Web = (url) => {
      if (url.includes('/circle/')) throw failure;
      return url === `${A}/` ? { links: [...circles, `${A}/b`] } : {};
    };
    await within(web, { ...here, retryMs: [0, 0] }, async (crawls) => {
      const end = await crawls.ended((await crawls.submit({ url: A, limit: 1000 })).id);
      expect(end).toMatchObject({ state: 'completed', done: 2, failed: 40 });
      expect(Math.max(...crawls.reads.values())).toBe(1);
    });
  });

  test('a busy host is retried after its Retry-After', { timeout: LONG_MS }, async () => {
    let asked = 0;
    const at: number[] = [];
    const web: Web = (url) => {
      if (url !== `${A}/busy`) return { links: [`${A}/busy`] };
      at.push(performance.now());
      return asked++ ? {} : { status: 503, retryAfter: '1' };
    };
    await within(web, here, async (crawls) => {
      expect(await crawls.ended((await crawls.submit({ url: A })).id)).toMatchObject({ done: 2, failed: 0 });
      expect(at[1]! - at[0]!).toBeGreaterThan(950);
    });
  });

  test('reads one page of a host at a time, with a delay or a longer Crawl-delay between pages', {
    timeout: LONG_MS,
  }, async () => {
    let active = 0;
    let most = 0;
    const starts: number[] = [];
    const web: Web = async (url) => {
      starts.push(performance.now());
      most = Math.max(most, ++active);
      await sleep(5);
      active--;
      return url === `${A}/` ? { links: [`${A}/a`, `${A}/b`] } : {};
    };
    const gaps = () => starts.slice(1).map((start, at) => start - starts[at]!);
    await within(web, { ...here, robots: { [A]: 'User-agent: *\nCrawl-delay: 0.3' } }, async (crawls) => {
      await crawls.ended((await crawls.submit({ url: A, delayMs: 100 })).id);
      expect(most).toBe(1);
      expect(Math.min(...gaps())).toBeGreaterThan(295);
      starts.length = 0;
      await crawls.ended((await crawls.submit({ url: A, delayMs: 100, robots: false })).id);
      expect(Math.min(...gaps())).toBeGreaterThan(95);
      starts.length = 0;
      // Two crawls share a host's limits.
      const both = await Promise.all([
        crawls.submit({ url: A, robots: false }),
        crawls.submit({ url: A, robots: false }),
      ]);
      await Promise.all(both.map(({ id }) => crawls.ended(id)));
      expect(most).toBe(1);
      expect(starts).toHaveLength(6);
    });
  });

  test('each page is charged once, and a crawl ends when the balance is used up', { timeout: LONG_MS }, async () => {
    let left = 3;
    const reserve = async () => {
      if (left-- <= 0) throw problem('InsufficientBalanceError');
      return {};
    };
    const web: Web = (url) => ({ links: [`${url}x`], content: `${url} says` });
    const crawls = await openTestCrawls(web, { ...here, reserve });
    try {
      const end = await crawls.ended((await crawls.submit({ url: `${A}/p/x`, depth: 100 })).id);
      expect(end).toMatchObject({ state: 'failed', error: expect.stringContaining('balance'), done: 3 });
      await crawls.close();
      expect([...crawls.charged.values()].reduce((sum, { tokens }) => sum + tokens, 0)).toBe(end.tokens);
      expect([...crawls.charged.values()]).toMatchObject(
        Array(3).fill({ owner: 'key', account: 'account', status: 200 }),
      );
    } finally {
      rmSync(crawls.dataDir, { recursive: true, force: true });
    }
  });

  test('another process that charges a read gets its reservation', { timeout: LONG_MS }, async () => {
    const charged = new Map<string, unknown>();
    const billingOf = (name: string, charge: Billing['charge']): Billing => {
      let made = 0;
      return { reserve: async () => ({ hold: `${name} ${++made}` }), note: () => {}, charge };
    };
    const broke = billingOf('worker', async () => {
      throw new Error('the accounts are away');
    });
    const web = webOf({ '/': { links: [`${A}/a`] }, '/a': {} });
    await within(web, { ...here, billing: broke }, async (worker) => {
      await worker.ended((await worker.submit({ url: A, sitemap: false })).id);
      const rich = billingOf('other', async (reads) => {
        for (const { id, reservation } of reads) charged.set(id, reservation);
      });
      await within(web, { ...here, dataDir: worker.dataDir, billing: rich, jobs: 0, leaseMs: 100 }, async () => {
        while (charged.size < 2) await sleep(20);
      });
    });
    expect([...charged.values()].sort()).toEqual([{ hold: 'worker 1' }, { hold: 'worker 2' }]);
  });

  test('a cancelled crawl ends after the pages being read', { timeout: LONG_MS }, async () => {
    const web: Web = async (url) => {
      await sleep(20);
      return { links: [1, 2, 3].map((at) => `${url}${at}`), content: url };
    };
    await within(web, here, async (crawls) => {
      const job = await crawls.submit({ url: `${A}/`, limit: 10_000, depth: 50 });
      while (!crawls.order.length) await sleep(5);
      const cancelled = await crawls.module.cancel(job);
      expect(cancelled.state).toBe('cancelled');
      const reads = crawls.order.length;
      await sleep(200);
      expect(crawls.order.length).toBeLessThanOrEqual(reads + 1);
      expect((await crawls.module.cancel(cancelled)).state).toBe('cancelled');
      expect(await crawls.results(cancelled)).toHaveLength(cancelled.done);
    });
  });

  test('an abandoned crawl ends at once and aborts the pages being read, which cost nothing', {
    timeout: LONG_MS,
  }, async () => {
    const given: string[] = [];
    const web: Web = (url, signal) =>
      new Promise((_, reject) => {
        signal.addEventListener('abort', () => {
          given.push(url);
          reject(signal.reason);
        });
      });
    // Long enough for the lease not to be checked during the test.
    await within(web, { ...here, leaseMs: 3_600_000 }, async (crawls) => {
      const job = await crawls.submit({ url: `${A}/` });
      while (!crawls.order.length) await sleep(5);
      await crawls.module.abandon(job);
      expect(await crawls.module.find(job.id)).toMatchObject({ state: 'cancelled', done: 0 });
      while (!crawls.noted.length) await sleep(5);
      expect(given).toEqual([`${A}/`]);
      expect(crawls.noted).toMatchObject([{ tokens: 0, status: 499 }]);
      expect(crawls.charged.size).toBe(0);
    });
  });

  test('another process resumes a crawl and does not read again what was written', {
    timeout: LONG_MS,
  }, async () => {
    const dataDir = mkdtempSync(path.join(os.tmpdir(), 'crawl-'));
    const web: Web = async (url) => {
      await sleep(2);
      const at = Number(url.slice(A.length + 1) || 0);
      return {
        links: [at * 3 + 1, at * 3 + 2, at * 3 + 3].filter((link) => link < 300).map((link) => `${A}/${link}`),
        content: url,
      };
    };
    const reads = new Map<string, number>();
    let id = '';
    try {
      for (let opened = 0; opened < 4; opened++) {
        const crawls = await openTestCrawls(web, { ...here, dataDir });
        if (!id) ({ id } = await crawls.submit({ url: A, limit: 1000, depth: 20, concurrency: 4 }));
        if (opened < 3) while (crawls.order.length < 40) await sleep(5);
        else expect(await crawls.ended(id)).toMatchObject({ state: 'completed', found: 300, done: 300 });
        await crawls.close();
        for (const [url, count] of crawls.reads) reads.set(url, (reads.get(url) ?? 0) + count);
      }
      expect(reads.size).toBe(300);
      // Each of the three times that a run ended, four pages were being read.
      expect([...reads.values()].reduce((sum, count) => sum + count - 1, 0)).toBeLessThanOrEqual(12);
    } finally {
      rmSync(dataDir, { recursive: true, force: true });
    }
  });

  test('can be followed while it runs, from any number on', { timeout: LONG_MS }, async () => {
    const web: Web = async (url) => {
      await sleep(10);
      return url.length > A.length + 12 ? {} : { links: [`${url}x`], content: url };
    };
    await within(web, here, async (crawls) => {
      const job = await crawls.submit({ url: `${A}/`, depth: 50 });
      const events = [];
      for await (const event of crawls.module.follow(job, 0, new AbortController().signal)) events.push(event);
      expect(events[0]!.kind).toBe('progress');
      expect(events.at(-1)).toMatchObject({ kind: 'done', job: { state: 'completed' } });
      const seqs = events.flatMap((event) => (event.kind === 'result' ? [event.seq] : []));
      expect(seqs).toEqual(Array.from({ length: 13 }, (_, at) => at + 1));
      const rest = [];
      for await (const event of crawls.module.follow(job, 10, new AbortController().signal)) rest.push(event);
      expect(rest.map((event) => (event.kind === 'result' ? event.seq : event.kind))).toEqual([11, 12, 13, 'done']);
      // `job` is as it was submitted: a client that follows a short crawl gets its state first, even if it has ended.
      const again = [];
      for await (const event of crawls.module.follow(job, 0, new AbortController().signal)) again.push(event.kind);
      expect(again).toEqual(['progress', ...Array<string>(13).fill('result'), 'done']);
    });
  });

  test('is deleted after it expires', { timeout: LONG_MS }, async () => {
    let clockMs = 0;
    const now = () => Date.now() + clockMs;
    await within(webOf({ '/': {} }), { ...here, now }, async (crawls) => {
      const end = await crawls.ended((await crawls.submit({ url: A })).id);
      expect(await crawls.results(end)).toHaveLength(1);
      clockMs = 86_400_001;
      expect(await crawls.module.find(end.id)).toMatchObject({ state: 'expired' });
      while ((await crawls.results(end)).length) await sleep(50);
    });
  });

  test('an owner has at most ten unfinished crawls, and lists only their own', { timeout: LONG_MS }, async () => {
    await within(webOf({ '/': {} }), { ...here, jobs: 0 }, async (crawls) => {
      const ids = [];
      for (let at = 0; at < 10; at++) ids.unshift((await crawls.submit({ url: A })).id);
      await expect(crawls.submit({ url: A })).rejects.toMatchObject({ name: 'ResourceLimitExceededError' });
      const other = await crawls.submit({ url: A }, { owner: 'other' });
      expect((await crawls.module.list('key', 100)).map(({ id }) => id)).toEqual(expect.arrayContaining(ids));
      expect((await crawls.module.list('other', 100)).map(({ id }) => id)).toEqual([other.id]);
    });
  });
});
