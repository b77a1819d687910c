/** Crawls in either database, of webs that are made up: order, dedup, retries, leases, payment, resumption. */
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
  type MadePage,
  openTestRoom,
  type TestRoom,
  type TestRoomOptions,
  unreached,
  type Web,
} from './crawl.suite.ts';

const databaseUrl = await postgresUrl();
const A = 'https://a.example';
const LONG_MS = 300_000;

/** Pages that are listed; all others are 404. */
const webOf =
  (pages: Readonly<Record<string, MadePage>>): Web =>
  (url) =>
    pages[url.replace(A, '')] ?? { status: 404 };

async function within<T>(web: Web, options: TestRoomOptions, work: (room: TestRoom) => Promise<T>): Promise<T> {
  const room = await openTestRoom(web, options);
  try {
    return await work(room);
  } finally {
    await room.close();
  }
}

describe.each(['sqlite', 'postgres'] as const)('%s', (dialect) => {
  const here: TestRoomOptions = dialect === 'postgres' ? { databaseUrl } : {};
  const test = it.skipIf(dialect === 'postgres' && !databaseUrl);

  test('10,000 addresses of which three in ten fail, some for good and some for a while', {
    timeout: LONG_MS,
  }, async () => {
    const total = dialect === 'sqlite' ? 10_000 : 2_000;
    // A tree whose inner pages are fine, so that all of them are found.
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
    await within(web, here, async (room) => {
      const job = await room.submit({ url: `${A}/`, limit: total, depth: 9, concurrency: 16 });
      const end = await room.ended(job.id);
      const outcomes = await room.outcomes(end);
      const failed = Array.from({ length: total }, (_, at) => kindOf(at)).filter((kind) =>
        /gone|lost/.test(kind),
      ).length;
      expect(end).toMatchObject({ state: 'completed', found: total, done: total - failed, failed, skipped: 0 });
      expect(failed / total).toBeGreaterThan(0.15);
      expect(outcomes.map(({ seq }) => seq)).toEqual(outcomes.map((_, at) => at + 1));
      expect(new Set(outcomes.map(({ url }) => url)).size).toBe(total);
      expect(Math.max(...room.reads.values())).toBe(3);
    });
  });

  test('the start, then sitemaps, then link by link; hosts in turn', { timeout: LONG_MS }, async () => {
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
    await within(web, { ...here, files }, async (room) => {
      await room.ended((await room.submit({ url: A, scope: 'host' })).id);
      expect(room.order.map((url) => url.replace(A, ''))).toEqual(['/', '/mapped', '/a', '/b', '/deep']);
      const wide = await room.ended((await room.submit({ url: A, scope: 'domain' })).id);
      expect(wide.done).toBe(6);
    });
  });

  test('nothing is read while robots.txt cannot be told', { timeout: LONG_MS }, async () => {
    const web = webOf({ '/': {} });
    await within(web, { ...here, robots: { [A]: 2 } }, async (room) => {
      expect(await room.ended((await room.submit({ url: A, sitemap: false })).id)).toMatchObject({ done: 1 });
    });
    await within(web, { ...here, robots: { [A]: 1_000 } }, async (room) => {
      const end = await room.ended((await room.submit({ url: A, sitemap: false })).id);
      expect(end).toMatchObject({ state: 'failed', error: expect.stringContaining('robots.txt'), failed: 1 });
      expect(room.reads.size).toBe(0);
      const bold = await room.ended((await room.submit({ url: A, sitemap: false, robots: false })).id);
      expect(bold).toMatchObject({ state: 'completed', done: 1 });
    });
  });

  test('what leads to where robots.txt forbids to go is not given', { timeout: LONG_MS }, async () => {
    const web = webOf({ '/': { links: [`${A}/old`] }, '/old': { url: `${A}/private/x` } });
    await within(web, { ...here, robots: { [A]: 'User-agent: *\nDisallow: /private' } }, async (room) => {
      const end = await room.ended((await room.submit({ url: A })).id);
      expect(await room.outcomes(end)).toMatchObject([
        { event: 'page' },
        { event: 'skipped', url: `${A}/old`, reason: 'robots', to: `${A}/private/x` },
      ]);
      await expect.poll(() => room.charged.size, { timeout: LONG_MS }).toBe(1);
      expect(room.noted).toMatchObject([{ tokens: 0, status: 200 }]);
    });
  });

  test('what leads to a page that waits is that page', { timeout: LONG_MS }, async () => {
    const web = webOf({
      '/': { links: [`${A}/old`, `${A}/new`] },
      '/old': { url: `${A}/new`, content: 'New' },
      '/new': { content: 'New' },
    });
    await within(web, here, async (room) => {
      const end = await room.ended((await room.submit({ url: A })).id);
      expect(await room.outcomes(end)).toMatchObject([
        { event: 'page' },
        { event: 'page', url: `${A}/old` },
        { event: 'skipped', url: `${A}/new`, reason: 'duplicate', of: `${A}/old` },
      ]);
      expect(room.reads.get(`${A}/new`)).toBeUndefined();
      expect(end).toMatchObject({ found: 3, done: 2, skipped: 1 });
    });
  });

  test('pages that call each other theirs are not lost, nor is a site that calls all its pages the first', {
    timeout: LONG_MS,
  }, async () => {
    const web = webOf({
      '/': { links: ['/a', '/b', '/c', '/d'].map((path) => A + path) },
      '/a': { canonical: `${A}/b` },
      '/b': { canonical: `${A}/a` },
      '/c': { canonical: `${A}/` },
      '/d': { canonical: 'https://elsewhere.example/d' },
    });
    await within(web, here, async (room) => {
      const end = await room.ended((await room.submit({ url: A })).id);
      expect(end).toMatchObject({ done: 4, skipped: 1 });
      expect((await room.outcomes(end)).find(({ event }) => event === 'skipped')).toMatchObject({
        url: `${A}/b`,
        of: `${A}/a`,
      });
    });
  });

  test('a host that is gone ends its pages soon, and others go on', { timeout: LONG_MS }, async () => {
    const gone = Array.from({ length: 500 }, (_, at) => `https://gone.a.example/${at}`);
    const web: Web = (url) => {
      if (url.startsWith('https://gone.')) throw unreached();
      return url === `${A}/` ? { links: [...gone, `${A}/b`] } : {};
    };
    await within(web, { ...here, retryMs: [50, 50] }, async (room) => {
      const end = await room.ended((await room.submit({ url: A, scope: 'domain', limit: 1000 })).id);
      expect(end).toMatchObject({ state: 'completed', done: 2, failed: 500 });
      expect([...room.reads.values()].reduce((sum, count) => sum + count, 0)).toBeLessThan(60);
    });
  });

  test('a host whose pages redirect in circles is not gone, and none of them is tried again', {
    timeout: LONG_MS,
  }, async () => {
    const circles = Array.from({ length: 40 }, (_, at) => `${A}/circle/${at}`);
    const site = await startServer((_, response) => response.writeHead(302, { location: '/' }).end());
    const failure: unknown = await startFetch([site])(site.origin).catch((error: unknown) => error);
    const web: Web = (url) => {
      if (url.includes('/circle/')) throw failure;
      return url === `${A}/` ? { links: [...circles, `${A}/b`] } : {};
    };
    await within(web, { ...here, retryMs: [0, 0] }, async (room) => {
      const end = await room.ended((await room.submit({ url: A, limit: 1000 })).id);
      expect(end).toMatchObject({ state: 'completed', done: 2, failed: 40 });
      expect(Math.max(...room.reads.values())).toBe(1);
    });
  });

  test('what is busy is waited for, as long as it says', { timeout: LONG_MS }, async () => {
    let asked = 0;
    const at: number[] = [];
    const web: Web = (url) => {
      if (url !== `${A}/busy`) return { links: [`${A}/busy`] };
      at.push(performance.now());
      return asked++ ? {} : { status: 503, retryAfter: '1' };
    };
    await within(web, here, async (room) => {
      expect(await room.ended((await room.submit({ url: A })).id)).toMatchObject({ done: 2, failed: 0 });
      expect(at[1]! - at[0]!).toBeGreaterThan(950);
    });
  });

  test('one page of a host at a time, a pause between them, a longer one when robots.txt says so', {
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
    await within(web, { ...here, robots: { [A]: 'User-agent: *\nCrawl-delay: 0.3' } }, async (room) => {
      await room.ended((await room.submit({ url: A, delayMs: 100 })).id);
      expect(most).toBe(1);
      expect(Math.min(...gaps())).toBeGreaterThan(295);
      starts.length = 0;
      await room.ended((await room.submit({ url: A, delayMs: 100, robots: false })).id);
      expect(Math.min(...gaps())).toBeGreaterThan(95);
      starts.length = 0;
      // Two crawls share a host's patience.
      const both = await Promise.all([room.submit({ url: A, robots: false }), room.submit({ url: A, robots: false })]);
      await Promise.all(both.map(({ id }) => room.ended(id)));
      expect(most).toBe(1);
      expect(starts).toHaveLength(6);
    });
  });

  test('each page is paid for once, and a crawl that nobody pays for any more ends', { timeout: LONG_MS }, async () => {
    let left = 3;
    const reserve = async () => {
      if (left-- <= 0) throw problem('InsufficientBalanceError');
      return {};
    };
    const web: Web = (url) => ({ links: [`${url}x`], content: `${url} says` });
    const room = await openTestRoom(web, { ...here, reserve });
    try {
      const end = await room.ended((await room.submit({ url: `${A}/p/x`, depth: 100 })).id);
      expect(end).toMatchObject({ state: 'failed', error: 'The account has no balance left', done: 3 });
      await room.close();
      expect([...room.charged.values()].reduce((sum, { tokens }) => sum + tokens, 0)).toBe(end.tokens);
      expect([...room.charged.values()]).toMatchObject(
        Array(3).fill({ owner: 'key', account: 'account', status: 200 }),
      );
    } finally {
      rmSync(room.dataDir, { recursive: true, force: true });
    }
  });

  test('what was set aside is given back by whoever charges the read', { timeout: LONG_MS }, async () => {
    const charged = new Map<string, unknown>();
    const purseOf = (name: string, charge: Billing['charge']): Billing => {
      let made = 0;
      return { reserve: async () => ({ hold: `${name} ${++made}` }), note: () => {}, charge };
    };
    const broke = purseOf('worker', async () => {
      throw new Error('the accounts are away');
    });
    const web = webOf({ '/': { links: [`${A}/a`] }, '/a': {} });
    await within(web, { ...here, purse: broke }, async (worker) => {
      await worker.ended((await worker.submit({ url: A, sitemap: false })).id);
      const rich = purseOf('other', async (reads) => {
        for (const { id, reserve } of reads) charged.set(id, reserve);
      });
      await within(web, { ...here, dataDir: worker.dataDir, purse: rich, jobs: 0, leaseMs: 100 }, async () => {
        while (charged.size < 2) await sleep(20);
      });
    });
    expect([...charged.values()].sort()).toEqual([{ hold: 'worker 1' }, { hold: 'worker 2' }]);
  });

  test('cancelled, it ends after the pages in work', { timeout: LONG_MS }, async () => {
    const web: Web = async (url) => {
      await sleep(20);
      return { links: [1, 2, 3].map((at) => `${url}${at}`), content: url };
    };
    await within(web, here, async (room) => {
      const job = await room.submit({ url: `${A}/`, limit: 10_000, depth: 50 });
      while (!room.order.length) await sleep(5);
      const cancelled = await room.room.cancel(job);
      expect(cancelled.state).toBe('cancelled');
      const reads = room.order.length;
      await sleep(200);
      expect(room.order.length).toBeLessThanOrEqual(reads + 1);
      expect((await room.room.cancel(cancelled)).state).toBe('cancelled');
      expect(await room.outcomes(cancelled)).toHaveLength(cancelled.done);
    });
  });

  test('abandoned, it ends at once, its pages in work too, which cost nothing', { timeout: LONG_MS }, async () => {
    const given: string[] = [];
    const web: Web = (url, signal) =>
      new Promise((_, reject) => {
        signal.addEventListener('abort', () => {
          given.push(url);
          reject(signal.reason);
        });
      });
    // So long that nobody looks after the lease meanwhile.
    await within(web, { ...here, leaseMs: 3_600_000 }, async (room) => {
      const job = await room.submit({ url: `${A}/` });
      while (!room.order.length) await sleep(5);
      await room.room.abandon(job);
      expect(await room.room.find(job.id)).toMatchObject({ state: 'cancelled', done: 0 });
      while (!room.noted.length) await sleep(5);
      expect(given).toEqual([`${A}/`]);
      expect(room.noted).toMatchObject([{ tokens: 0, status: 499 }]);
      expect(room.charged.size).toBe(0);
    });
  });

  test('goes on where another process left it, and reads nothing twice that was written down', {
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
        const room = await openTestRoom(web, { ...here, dataDir });
        if (!id) ({ id } = await room.submit({ url: A, limit: 1000, depth: 20, concurrency: 4 }));
        if (opened < 3) while (room.order.length < 40) await sleep(5);
        else expect(await room.ended(id)).toMatchObject({ state: 'completed', found: 300, done: 300 });
        await room.close();
        for (const [url, count] of room.reads) reads.set(url, (reads.get(url) ?? 0) + count);
      }
      expect(reads.size).toBe(300);
      // Four at once were in work at each of three ends.
      expect([...reads.values()].reduce((sum, count) => sum + count - 1, 0)).toBeLessThanOrEqual(12);
    } finally {
      rmSync(dataDir, { recursive: true, force: true });
    }
  });

  test('is followed as it goes, and from any number on', { timeout: LONG_MS }, async () => {
    const web: Web = async (url) => {
      await sleep(10);
      return url.length > A.length + 12 ? {} : { links: [`${url}x`], content: url };
    };
    await within(web, here, async (room) => {
      const job = await room.submit({ url: `${A}/`, depth: 50 });
      const events = [];
      for await (const event of room.room.follow(job, 0, new AbortController().signal)) events.push(event);
      expect(events[0]!.kind).toBe('progress');
      expect(events.at(-1)).toMatchObject({ kind: 'done', job: { state: 'completed' } });
      const seqs = events.flatMap((event) => (event.kind === 'outcome' ? [event.seq] : []));
      expect(seqs).toEqual(Array.from({ length: 13 }, (_, at) => at + 1));
      const rest = [];
      for await (const event of room.room.follow(job, 10, new AbortController().signal)) rest.push(event);
      expect(rest.map((event) => (event.kind === 'outcome' ? event.seq : event.kind))).toEqual([11, 12, 13, 'done']);
    });
  });

  test('is removed when its time is over', { timeout: LONG_MS }, async () => {
    let clockMs = 0;
    const now = () => Date.now() + clockMs;
    await within(webOf({ '/': {} }), { ...here, now }, async (room) => {
      const end = await room.ended((await room.submit({ url: A })).id);
      expect(await room.outcomes(end)).toHaveLength(1);
      clockMs = 86_400_001;
      expect(await room.room.find(end.id)).toMatchObject({ state: 'expired' });
      while ((await room.outcomes(end)).length) await sleep(50);
    });
  });

  test('an owner has ten under way at most, and sees only their own in the list', { timeout: LONG_MS }, async () => {
    await within(webOf({ '/': {} }), { ...here, jobs: 0 }, async (room) => {
      const ids = [];
      for (let at = 0; at < 10; at++) ids.unshift((await room.submit({ url: A })).id);
      await expect(room.submit({ url: A })).rejects.toMatchObject({ name: 'ResourceLimitExceededError' });
      const other = await room.submit({ url: A }, { owner: 'other' });
      expect((await room.room.list('key', 100)).map(({ id }) => id)).toEqual(expect.arrayContaining(ids));
      expect((await room.room.list('other', 100)).map(({ id }) => id)).toEqual([other.id]);
    });
  });
});
