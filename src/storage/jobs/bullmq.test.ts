/**
 * Tests notifications through a real Redis: delivered in order, each to one process, even if Redis fails in between.
 */
import { randomUUID } from 'node:crypto';
import { inspect } from 'node:util';
import { createClient } from '@redis/client';
import { afterAll, afterEach, beforeAll, describe, expect, it, type TestContext, vi } from 'vitest';
import { redisUrl, type Service, startPausableProxy, startRedis } from '../../../test/support/services.ts';
import { openBullMqNotifications } from './bullmq.ts';
import type { JobNotifications } from './notifications.ts';

const isThere = (await redisUrl()) !== undefined;
const NEVER = new AbortController().signal;
const clientOf = (url: string) => createClient({ url });
const LONG_MS = 60_000;

describe.skipIf(!isThere)('notifications through Redis', { timeout: 3 * LONG_MS }, () => {
  let service: Service;
  beforeAll(async () => {
    service = (await startRedis())!;
  });
  afterAll(() => service?.close());

  const warned: unknown[] = [];
  const log = { warn: (...entry: unknown[]) => void warned.push(entry) } as never;

  function open({ onTestFinished }: TestContext, name: string, { receives = true, url = service.url } = {}) {
    const queue = openBullMqNotifications({ url, name: async () => name, receives, log });
    onTestFinished(() => queue.close());
    return queue;
  }
  const ready = (queue: JobNotifications, healthy = true) =>
    vi.waitUntil(() => queue.healthy === healthy, { timeout: LONG_MS });
  /** Waits until an id arrives. */
  async function next(queue: JobNotifications, signal = NEVER): Promise<string | undefined> {
    for (;;) {
      const id = await queue.next(signal);
      if (id !== undefined || signal.aborted) return id;
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
  }
  async function redis<Answer>(ask: (client: ReturnType<typeof clientOf>) => Promise<Answer>): Promise<Answer> {
    const client = clientOf(service.url);
    await client.connect();
    try {
      return await ask(client);
    } finally {
      client.destroy();
    }
  }

  // Run concurrently, because most of these tests wait.
  describe.concurrent('while it runs', () => {
    it('arrive in order, each once, at any waiting process', async (context) => {
      const name = randomUUID();
      const [announcer, one, other] = [
        open(context, name, { receives: false }),
        open(context, name),
        open(context, name),
      ];
      await Promise.all([announcer, one, other].map((queue) => ready(queue)));
      const ids = Array.from({ length: 40 }, (_, at) => `job_${at}`);
      for (const id of ids) announcer.announce(id, 0);
      const got: string[] = [];
      const places = new Map<string, number[]>();
      const done = new AbortController();
      const take = async (queue: JobNotifications, who: string) => {
        const mine: number[] = [];
        places.set(who, mine);
        for (let id = await next(queue, done.signal); id !== undefined; id = await next(queue, done.signal)) {
          got.push(id);
          mine.push(ids.indexOf(id));
          if (got.length === ids.length) done.abort();
        }
      };
      await Promise.all([take(one, 'one'), take(other, 'other')]);
      expect(got.toSorted()).toEqual(ids.toSorted());
      for (const mine of places.values()) expect(mine).toEqual(mine.toSorted((a, b) => a - b));
    });

    it('arrive when the job is ready, not before', async (context) => {
      const queue = open(context, randomUUID());
      await ready(queue);
      const startedMs = Date.now();
      queue.announce('job_late', 1_500);
      queue.announce('job_now', 0);
      expect(await next(queue)).toBe('job_now');
      expect(await next(queue)).toBe('job_late');
      expect(Date.now() - startedMs).toBeGreaterThanOrEqual(1_500);
    });

    it('leave nothing in Redis, and are queued once however often announced', async (context) => {
      const name = randomUUID();
      const queue = open(context, name);
      await ready(queue);
      for (let at = 0; at < 50; at++) queue.announce('job_a', 0);
      queue.announce('job_b', 0);
      expect(await next(queue)).toBe('job_a');
      expect(await next(queue)).toBe('job_b');
      // An id that has been delivered can be announced again.
      queue.announce('job_a', 0);
      expect(await next(queue)).toBe('job_a');
      const left = await redis(async (client) => {
        const keys = await client.keys(`*${name}*`);
        return {
          keys: keys.map((key) => key.split(':').at(-1)),
          noted: await client.xLen(`lectern:{jobs}:${name}:events`),
        };
      });
      expect(left.keys.filter((key) => key?.startsWith('job_'))).toEqual([]);
      expect(left.noted).toBeLessThan(200);
    });

    it('return to the queue when a process stops or is killed', async (context) => {
      const name = randomUUID();
      const [leaving, staying] = [open(context, name), open(context, name, { receives: false })];
      await Promise.all([ready(leaving), ready(staying)]);
      const waiting = leaving.next(NEVER);
      staying.announce('job_a', 0);
      await leaving.close();
      const received = await waiting;
      const after = open(context, name);
      await ready(after);
      if (received === undefined) expect(await next(after)).toBe('job_a');
      // Fetch an id without completing it, as if the process had been killed at that moment.
      const { Worker } = await import('bullmq');
      const client = createClient({ url: service.url });
      await client.connect();
      const options = {
        connection: client as never,
        prefix: 'lectern:{jobs}',
        skipVersionCheck: true,
        lockDuration: 500,
      };
      const dead = new Worker(name, null, options);
      staying.announce('job_b', 0);
      await vi.waitUntil(async () => (await dead.getNextJob('dead', { block: false }))?.id === 'job_b', {
        timeout: LONG_MS,
      });
      await dead.close(true);
      client.destroy();
      expect(await next(after)).toBe('job_b');
    });

    it('become unavailable when Redis hangs, and still close', async (context) => {
      const relay = await startPausableProxy(service.url);
      const queue = open(context, randomUUID(), { url: relay.url });
      await ready(queue);
      relay.pause();
      queue.announce('job_a', 0);
      await ready(queue, false);
      relay.resume();
      await ready(queue);
      relay.pause();
      void queue.next(NEVER);
      queue.announce('job_b', 0);
      await queue.close();
      await relay.close();
    });

    it('reject an invalid URL without showing it', (context) => {
      const failure = (() => {
        try {
          return open(context, 'x', { url: 'redis://:earl-gray@127.0.0.1/tea' });
        } catch (error) {
          return error;
        }
      })();
      expect(String(failure)).toContain('redis://host:port');
      expect(inspect(failure, { showHidden: true })).not.toContain('earl-grey');
    });
  });

  describe('while it fails', () => {
    afterEach(() => service.start());

    it('recover when Redis returns, loses its data, or starts late', async (context) => {
      const name = randomUUID();
      await service.stop();
      warned.length = 0;
      const queue = open(context, name);
      expect(await queue.next(NEVER)).toBeUndefined();
      queue.announce('job_lost', 0);
      await expect.poll(() => warned.length, { timeout: LONG_MS }).toBe(1);
      expect(queue.healthy).toBe(false);
      for (const end of [service.stop, service.kill]) {
        await service.start();
        await ready(queue);
        queue.announce('job_a', 0);
        expect(await next(queue)).toBe('job_a');
        await redis((client) => client.flushAll());
        await redis((client) => client.sendCommand(['SCRIPT', 'FLUSH']));
        queue.announce('job_b', 0);
        expect(await next(queue)).toBe('job_b');
        const waiting = queue.next(NEVER);
        await end();
        expect(await waiting).toBeUndefined();
        await ready(queue, false);
      }
      expect(warned).toHaveLength(3);
      expect(inspect(warned, { depth: 9, showHidden: true })).not.toContain(new URL(service.url).password);
    });

    it('log only one warning while Redis is full', async (context) => {
      const connected = async () =>
        Number(/total_connections_received:(\d+)/.exec(await redis((client) => client.info('stats')))![1]);
      await redis((client) => client.configSet('maxmemory', '1'));
      const done = new AbortController();
      try {
        warned.length = 0;
        const before = await connected();
        const asking = next(open(context, randomUUID()), done.signal);
        // The query itself uses some connections.
        await expect.poll(async () => (await connected()) - before, { timeout: LONG_MS }).toBeGreaterThan(40);
        done.abort();
        await asking;
        expect(warned).toHaveLength(1);
      } finally {
        done.abort();
        await redis((client) => client.configSet('maxmemory', '0'));
      }
    });
  });
});
