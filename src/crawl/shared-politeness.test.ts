import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openStore, type Store } from '#storage/database/store.ts';
import { postgresUrl } from '../../test/support/services.ts';
import { openTestCrawls } from './crawl.suite.ts';
import { CRAWL_TABLES } from './open.ts';
import { createSharedPoliteness, type PolitenessTables, type SharedPoliteness } from './shared-politeness.ts';

const LONG_MS = 120_000;
const url = await postgresUrl();
const log = { warn: () => {} };

describe.skipIf(!url)('servers that share a database', { timeout: LONG_MS }, () => {
  let store: Store<PolitenessTables>;
  let servers: [SharedPoliteness, SharedPoliteness];
  beforeAll(async () => {
    store = await openStore<PolitenessTables>({ url, file: '' }, { ...CRAWL_TABLES, log });
    servers = [createSharedPoliteness(store.db, log), createSharedPoliteness(store.db, log)];
  }, LONG_MS);
  afterAll(async () => {
    for (const server of servers ?? []) await server.close();
    await store?.close();
  });

  it('share the slots of a host', async () => {
    const [one, other] = servers;
    expect(await one.acquire('a', 1)).toBeUndefined();
    expect(await other.acquire('a', 1)).toBeGreaterThan(0);
    expect(await other.acquire('b', 1)).toBeUndefined();
    expect(await other.acquire('a', 2)).toBeUndefined();
    expect(await one.acquire('a', 2)).toBeGreaterThan(0);
    one.release('a', 0);
    other.release('a', 0);
    await expect.poll(() => one.acquire('a', 1), { timeout: LONG_MS }).toBeUndefined();
    one.release('a', 0);
  });

  it('let a host rest for the pause that one of them set', async () => {
    const [one, other] = servers;
    expect(await one.acquire('c', 1)).toBeUndefined();
    one.release('c', 60_000);
    // A release is written before the next call of `acquire` reads it.
    expect(await one.acquire('c', 1)).toBeGreaterThan(50_000);
    expect(await other.acquire('c', 1)).toBeGreaterThan(50_000);
    one.pause('d', 60_000);
    one.pause('d', 0);
    expect(await one.acquire('d', 1)).toBeGreaterThan(50_000);
  });

  it('get the slots of a server that died', async () => {
    const [one] = servers;
    const holders = JSON.stringify({ 'gone:1': 1 });
    await store.db.insertInto('crawl_hosts').values({ host: 'e', next_at: 0, holders }).execute();
    expect(await one.acquire('e', 1)).toBeUndefined();
    one.release('e', 0);
  });

  it('ignore times from before the clock was set back', async () => {
    const [one] = servers;
    const ahead = Date.now() + 86_400_000;
    const holders = JSON.stringify({ 'gone:1': ahead });
    await store.db.insertInto('crawl_hosts').values({ host: 'f', next_at: ahead, holders }).execute();
    expect(await one.acquire('f', 1)).toBeUndefined();
    one.release('f', 0);
  });

  it('read a host no faster together than one server would', async () => {
    const times: number[] = [];
    let active = 0;
    let most = 0;
    const web = async (address: string) => {
      times.push(performance.now());
      most = Math.max(most, ++active);
      await new Promise((resolve) => setTimeout(resolve, 30));
      active--;
      const { origin, pathname } = new URL(address);
      return pathname === '/' ? { links: [1, 2, 3, 4].map((at) => `${origin}/p${at}`) } : {};
    };
    const servers = await Promise.all([1, 2].map(() => openTestCrawls(web, { databaseUrl: url!, jobs: 1 })));
    try {
      const asked = { url: 'https://polite.example/', delayMs: 200, sitemap: false };
      const jobs = await Promise.all(servers.map((server) => server.submit(asked)));
      for (const [at, { id }] of jobs.entries()) expect((await servers[at]!.ended(id)).done).toBe(5);
      // The test is meaningful only if both servers have read pages.
      for (const { order } of servers) expect(order.length).toBeGreaterThan(0);
    } finally {
      await Promise.all(servers.map((server) => server.close()));
    }
    expect(times).toHaveLength(10);
    expect(most).toBe(1);
    const gaps = times.slice(1).map((time, at) => time - times[at]!);
    // Measured from the end of one read to the start of the next, using the database clock.
    expect(Math.min(...gaps)).toBeGreaterThan(200);
  });
});
