/** Tests jobs that processes share through Redis, in either database, including failures of Redis or a process. */
import { mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { createClient } from '@redis/client';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { FakeOptions } from '#models/embed/embed.suite.ts';
import { postgresUrl, redisUrl, type Service, startRedis } from '../../test/support/services.ts';
import { line, openTestBatch, type TestBatch } from './batch.suite.ts';
import type { Job } from './job.ts';
import type { BatchModuleOptions } from './open.ts';
import { kill, startWorkerProcess } from './worker-process.suite.ts';

const postgres = await postgresUrl();
const isThere = (await redisUrl()) !== undefined;
const clientOf = (url: string) => createClient({ url });
const LONG_MS = 180_000;
const LINES = 100;

let redis: Service;
beforeAll(async () => {
  if (isThere) redis = (await startRedis())!;
});
afterAll(() => redis?.close());

/** A model that returns results once the gate is open. */
function createGate() {
  let open = () => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  const fake: FakeOptions = { onBatch: () => opened };
  return { fake, open: () => open() };
}

describe.each(['sqlite', 'postgres'] as const)('%s with Redis', (dialect) => {
  describe.skipIf(!isThere || (dialect === 'postgres' && !postgres))('jobs', { timeout: LONG_MS }, () => {
    let dir: string;
    let databaseUrl: string | undefined;
    const closing: (() => Promise<void>)[] = [];
    beforeEach(async () => {
      await redis.start();
      await ask((client) => client.flushAll());
      dir = mkdtempSync(path.join(os.tmpdir(), 'batch-'));
      databaseUrl = dialect === 'postgres' ? await postgresUrl() : undefined;
    });
    afterEach(async () => {
      for (const close of closing.splice(0).toReversed()) await close();
      rmSync(dir, { recursive: true, force: true });
    });
    const place = () => ({ dataDir: dir, databaseUrl, redisUrl: redis.url });
    async function open(
      options: Partial<BatchModuleOptions> = {},
      fake: FakeOptions = { batchMs: 10 },
    ): Promise<TestBatch> {
      const batchModule = await openTestBatch({ ...place(), ...options }, fake);
      closing.push(() => batchModule.close());
      return batchModule;
    }
    const submit = ({ submit: to }: TestBatch, name: string) =>
      to(Array.from({ length: LINES }, (_, at) => line(`${name} ${at}`, `tea ${at}`)));
    async function expectWhole(batchModule: TestBatch, { id }: Job, name: string): Promise<void> {
      const job = await batchModule.ended(id);
      expect(job).toMatchObject({ state: 'completed', completed: LINES, failed: 0 });
      const output = await batchModule.lines(job, 'output');
      expect(output.map(({ custom_id }) => custom_id)).toEqual(
        Array.from({ length: LINES }, (_, at) => `${name} ${at}`),
      );
    }
    const states = (batchModule: TestBatch, jobs: readonly Job[]) =>
      Promise.all(jobs.map(async ({ id }) => (await batchModule.batchModule.find(id))!.state));
    const untilProcessing = (batchModule: TestBatch, jobs: readonly Job[], count: number) =>
      expect
        .poll(async () => (await states(batchModule, jobs)).filter((state) => state === 'processing').length, {
          timeout: LONG_MS,
          interval: 10,
        })
        .toBeGreaterThanOrEqual(count);
    async function ask<Answer>(what: (client: ReturnType<typeof clientOf>) => Promise<Answer>): Promise<Answer> {
      const client = clientOf(redis.url);
      await client.connect();
      try {
        return await what(client);
      } finally {
        client.destroy();
      }
    }

    it('are shared by a server and a worker, and continue when the worker is killed', async () => {
      const gate = createGate();
      const server = await open({ jobs: 1 }, gate.fake);
      // The worker is so slow that it is killed before it finishes.
      const worker = await startWorkerProcess({ ...place(), batchMs: 60_000 });
      const jobs = await Promise.all(['a', 'b', 'c'].map((name) => submit(server, name)));
      try {
        // The server itself runs only one of the jobs.
        await untilProcessing(server, jobs, 2);
      } finally {
        await kill(worker);
      }
      gate.open();
      for (const [at, name] of ['a', 'b', 'c'].entries()) await expectWhole(server, jobs[at]!, name);
      await expect.poll(() => ask((client) => client.keys('*batch_*'))).toEqual([]);
    });

    it('are run by a worker alone if the server only accepts them', async () => {
      const server = await open({ jobs: 0 });
      const worker = await startWorkerProcess({ ...place(), batchMs: 0 });
      try {
        await expectWhole(server, await submit(server, 'a'), 'a');
        await expectWhole(server, await submit(server, 'b'), 'b');
      } finally {
        await kill(worker);
      }
    });

    it('continue while Redis is away, when it returns, and when it has lost its data', async () => {
      const gate = createGate();
      const server = await open({ jobs: 1 }, gate.fake);
      const first = await submit(server, 'a');
      await untilProcessing(server, [first], 1);
      await redis.stop();
      gate.open();
      const away = await submit(server, 'b');
      await expectWhole(server, first, 'a');
      await redis.start();
      const back = await submit(server, 'c');
      await ask((client) => client.flushAll());
      const after = await submit(server, 'd');
      await ask((client) => client.flushAll());
      for (const [job, name] of [
        [away, 'b'],
        [back, 'c'],
        [after, 'd'],
      ] as const) {
        await expectWhole(server, job, name);
      }
    });

    it('are run if Redis is away from the start', async () => {
      await redis.stop();
      const server = await open();
      await expectWhole(server, await submit(server, 'a'), 'a');
    });

    it('of two databases stay apart in one Redis', async () => {
      const one = await open({ jobs: 1 });
      const elsewhere = mkdtempSync(path.join(os.tmpdir(), 'batch-'));
      closing.push(async () => rmSync(elsewhere, { recursive: true, force: true }));
      const other = await open({
        dataDir: elsewhere,
        databaseUrl: dialect === 'postgres' ? await postgresUrl() : undefined,
        jobs: 1,
      });
      const jobs = await Promise.all([submit(one, 'a'), submit(other, 'b'), submit(one, 'c'), submit(other, 'd')]);
      await expectWhole(one, jobs[0]!, 'a');
      await expectWhole(other, jobs[1]!, 'b');
      await expectWhole(one, jobs[2]!, 'c');
      await expectWhole(other, jobs[3]!, 'd');
      const names = await ask(async (client) => (await client.keys('*:meta')).filter((key) => key.includes(':batch-')));
      expect(new Set(names).size).toBeGreaterThanOrEqual(2);
    });
  });
});
