/** Tests counter stores whose servers stop, hang and recover, and leases that outlast one lease period. */
import { mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { inspect } from 'node:util';
import { afterAll, afterEach, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import {
  postgresUrl,
  redisUrl,
  type Service,
  startPausableProxy,
  startPostgres,
  startRedis,
} from '../../../test/support/services.ts';
import { openSharedCounters, type StoreLocation } from '../../../test/support/shared-counters.ts';
import { type Counters, CountersUnavailableError, LEASE_MS, type Lease } from './counters.ts';
import { openCounters } from './open.ts';

const dir = mkdtempSync(path.join(os.tmpdir(), 'counters-'));
const file = path.join(dir, 'counters.db');
const urls = { redis: await redisUrl(), postgres: await postgresUrl() };
const opened: Counters[] = [];
const keep = async (counters: Promise<Counters>): Promise<Counters> => {
  opened.push(await counters);
  return counters;
};
afterEach(async () => {
  vi.useRealTimers();
  for (const counters of opened.splice(0)) await counters.close();
});
afterAll(() => rmSync(dir, { recursive: true, force: true }));

const LONG_MS = 60_000;
const windows = [{ bucket: 'requests', limit: 1_000_000, amount: 1 }];
const lease = { bucket: 'worked on', limit: 1_000_000 };
/** Returns the result of a call of `take`, or its error. */
const outcome = (counters: Counters) => counters.take({ windows, lease }).catch((error: unknown) => error);

const KINDS = {
  Redis: {
    start: startRedis,
    isThere: urls.redis !== undefined,
    place: (redis: string): StoreLocation => ({ redis, file }),
  },
  PostgreSQL: {
    start: startPostgres,
    isThere: urls.postgres !== undefined,
    place: (postgres: string): StoreLocation => ({ postgres, file }),
  },
};

interface Server {
  readonly name: string;
  readonly service: Service;
  readonly place: (url: string) => StoreLocation;
}

describe.skipIf(!urls.redis && !urls.postgres)('counters whose server becomes unavailable', () => {
  let servers: Server[];
  beforeAll(async () => {
    const there = Object.entries(KINDS).filter(([, { isThere }]) => isThere);
    servers = await Promise.all(
      there.map(async ([name, { start, place }]) => ({ name, place, service: (await start())! })),
    );
  });
  afterAll(() => Promise.all(servers?.map(({ service }) => service.close()) ?? []));

  /** Tests Redis and PostgreSQL at the same time, because most of the time is spent waiting. */
  const forEach = (title: string, run: (server: Server) => Promise<void>) =>
    it(title, async () => void (await Promise.all(servers.map(run))), LONG_MS);

  forEach('fail at once and recover by themselves', async ({ name, service, place }) => {
    const counters = await keep(openSharedCounters(place(service.url), {}));
    expect(await outcome(counters), name).toMatchObject({ ok: true });
    for (const end of [service.stop, service.kill]) {
      await end();
      const failures = await Promise.all(Array.from({ length: 500 }, () => outcome(counters)));
      for (const failure of failures) expect(failure, name).toBeInstanceOf(CountersUnavailableError);
      expect(counters.healthy, name).toBe(false);
      counters.settle('requests', 1, 1);
      counters.release({ bucket: lease.bucket, id: 'any' });
      expect(inspect(failures[0], { depth: 9, showHidden: true })).not.toContain(new URL(service.url).password);
      await service.start();
      await expect.poll(() => outcome(counters), { timeout: LONG_MS, message: name }).toMatchObject({ ok: true });
      expect(counters.healthy, name).toBe(true);
    }
  });

  forEach('can be opened while the server is unavailable', async ({ name, service, place }) => {
    await service.stop();
    const warned: unknown[] = [];
    const log = { warn: (...entry: unknown[]) => warned.push(entry) } as never;
    const { redis, postgres } = place(service.url);
    const counters = await keep(openCounters({ redisUrl: redis, databaseUrl: postgres, file: '' }, { log }));
    expect(await outcome(counters), name).toBeInstanceOf(CountersUnavailableError);
    expect(warned, name).toHaveLength(1);
    expect(inspect(warned, { depth: 9, showHidden: true })).not.toContain(new URL(service.url).password);
    await service.start();
    await expect.poll(() => outcome(counters), { timeout: LONG_MS, message: name }).toMatchObject({ ok: true });
  });

  forEach('fail when the server does not answer, and still close', async ({ name, service, place }) => {
    const relay = await startPausableProxy(service.url);
    const counters = await keep(openSharedCounters(place(relay.url), {}));
    expect(await outcome(counters), name).toMatchObject({ ok: true });
    relay.pause();
    const failures = await Promise.all(Array.from({ length: 300 }, () => outcome(counters)));
    for (const failure of failures) expect(failure, name).toBeInstanceOf(CountersUnavailableError);
    relay.resume();
    await expect.poll(() => outcome(counters), { timeout: LONG_MS, message: name }).toMatchObject({ ok: true });
    relay.pause();
    await counters.close();
    await relay.close();
  });
});

it.skipIf(!urls.redis)('leases granted by Redis without an answer are released', async () => {
  const service = (await startRedis())!;
  onTestFinished(() => service.close());
  const { createClient } = await import('@redis/client');
  const client = createClient({ url: service.url });
  client.on('error', () => {});
  await client.connect();
  const pid = Number(/process_id:(\d+)/.exec(await client.info('server'))![1]);
  client.destroy();
  const counters = await keep(openSharedCounters({ redis: service.url, file }, {}));
  const take = () => counters.take({ windows: [], lease: { bucket: 'few', limit: 3 } }).catch(() => undefined);
  const before = await take();
  process.kill(pid, 'SIGSTOP');
  const unanswered = [take(), take()];
  counters.release((before as { lease: Lease }).lease);
  expect(await Promise.all(unanswered)).toEqual([undefined, undefined]);
  process.kill(pid, 'SIGCONT');
  // The leases must become free before they would expire.
  const three = async () => {
    const taken = await Promise.all([take(), take(), take()]);
    for (const one of taken) if (one?.ok) counters.release(one.lease!);
    return taken.map((one) => one?.ok);
  };
  await expect.poll(three, { timeout: LEASE_MS / 2 }).toEqual([true, true, true]);
});

it('uses memory by default', async () => {
  const counters = await keep(openCounters({ file: '' }));
  expect(await outcome(counters)).toMatchObject({ ok: true });
});

it('rejects an invalid URL without showing it', async () => {
  for (const redisUrl of [
    'http://:earl-gray@127.0.0.1',
    'redis://:earl-gray@[::z]',
    'redis://:earl-gray@127.0.0.1/tea',
  ]) {
    const failure = await openCounters({ redisUrl, file: '' }).catch((error: unknown) => error);
    expect((failure as Error).message).toContain('redis://host:port');
    expect(inspect(failure, { showHidden: true })).not.toContain('earl-grey');
  }
});

const places: Record<string, StoreLocation | undefined> = {
  SQLite: { file },
  PostgreSQL: urls.postgres ? { postgres: urls.postgres, file } : undefined,
  Redis: urls.redis ? { redis: urls.redis, file } : undefined,
};

for (const [name, place] of Object.entries(places)) {
  it.skipIf(!place)(`leases in ${name} are renewed only while their process runs`, async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    let nowMs = Date.now();
    const clock = () => nowMs;
    const take = { windows: [], lease: { bucket: 'renewed', limit: 1 } };
    const holder = await openSharedCounters(place!, { clock });
    const other = await keep(openSharedCounters(place!, { clock }));
    expect(await holder.take(take)).toMatchObject({ ok: true });
    nowMs += LEASE_MS - 1_000;
    vi.advanceTimersByTime(LEASE_MS / 2);
    // close() waits for pending renewals.
    await holder.close();
    nowMs += LEASE_MS - 1;
    expect(await other.take(take)).toMatchObject({ ok: false, over: 'lease' });
    nowMs += 1;
    expect(await other.take(take)).toMatchObject({ ok: true });
  });
}
