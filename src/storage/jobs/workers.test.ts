/** Tests workers with a real table and a real Redis: which queries they send, and which they avoid. */
import { mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openStore, type Store } from '#storage/database/store.ts';
import { redisUrl } from '../../../test/support/services.ts';
import { openBullMqNotifications } from './bullmq.ts';
import type { JobNotifications } from './notifications.ts';
import { type JobColumns, jobTable, NEW_JOB_COLUMNS } from './table.ts';
import { startWorkers, type Workers } from './workers.ts';

interface Tables {
  tea_jobs: JobColumns;
}

const LONG_MS = 120_000;
const LEASE_MS = 3_000;
const url = await redisUrl();
const log = { warn() {} };

const TABLE = jobTable<JobColumns>({
  name: 'tea_jobs',
  plural: 'pots of tea',
  ending: () => ({}),
  expired: {},
  removable: {},
});

describe('workers', { timeout: LONG_MS }, () => {
  let dir: string;
  let store: Store<Tables>;
  const closing: (() => Promise<void>)[] = [];
  beforeEach(async () => {
    dir = mkdtempSync(path.join(os.tmpdir(), 'jobs-'));
    const texts = ['owner', 'state', 'error', 'lease'];
    const numbers = Object.keys(row('x')).filter((name) => name !== 'id' && !texts.includes(name));
    store = await openStore<Tables>(
      { file: path.join(dir, 'jobs.db') },
      {
        module: 'tea',
        migrations: [
          {
            name: 'tea',
            async up(db) {
              let table = db.schema.createTable('tea_jobs').addColumn('id', 'text', (column) => column.primaryKey());
              for (const name of texts) table = table.addColumn(name, 'text');
              for (const name of numbers) table = table.addColumn(name, 'bigint');
              await table.execute();
            },
          },
        ],
      },
    );
  });
  afterEach(async () => {
    for (const close of closing.splice(0).toReversed()) await close();
    await store.close();
    rmSync(dir, { recursive: true, force: true });
  });

  const row = (id: string): JobColumns => ({
    ...NEW_JOB_COLUMNS,
    id,
    owner: 'me',
    created_at: Date.now(),
    expires_at: Date.now() + 3_600_000,
  });
  const insert = (id: string) => TABLE.insert(store, row(id), async () => {});

  /** Starts workers that end each job in its second run, and counts their queries. */
  function start(notifications: JobNotifications | undefined, slots = 2) {
    const queries = { take: 0, takeOne: 0, waiting: 0 };
    const done: string[] = [];
    let atOnce = 0;
    let mostAtOnce = 0;
    const jobs: typeof TABLE = {
      ...TABLE,
      take(from, what) {
        queries[what.id === undefined ? 'take' : 'takeOne']++;
        return TABLE.take(from, what);
      },
      waiting(...args) {
        queries.waiting++;
        return TABLE.waiting(...args);
      },
    };
    const seen = new Set<string>();
    const workers: Workers = startWorkers(
      {
        jobs,
        async work({ row: { id }, lease }) {
          mostAtOnce = Math.max(mostAtOnce, ++atOnce);
          await new Promise((resolve) => setTimeout(resolve, 20));
          atOnce--;
          if (!seen.has(id)) {
            seen.add(id);
            return { readyAt: 0 };
          }
          await TABLE.end(store, lease, { move: 'complete' }, Date.now());
          done.push(id);
          return undefined;
        },
        endFailed: async () => false,
        onRunEnd() {},
      },
      { store, slots, leaseMs: LEASE_MS, pauseMs: 10, now: Date.now, log, notifications },
    );
    closing.push(() => workers.close());
    return { queries, done, workers, most: () => mostAtOnce };
  }

  async function openNotifications(name: string): Promise<JobNotifications> {
    const notifications = openBullMqNotifications({ url: url!, name: async () => name, receives: true, log });
    closing.push(() => notifications.close());
    await expect.poll(() => notifications.healthy, { timeout: LONG_MS }).toBe(true);
    return notifications;
  }

  it('run as many jobs at once as there are slots, each to its end', async () => {
    const ids = Array.from({ length: 9 }, (_, at) => `job_${at}`);
    for (const id of ids) await insert(id);
    const { done, most } = start(undefined, 3);
    await expect.poll(() => done.toSorted(), { timeout: LONG_MS }).toEqual(ids);
    expect(most()).toBe(3);
  });

  it('keep their jobs after a suspension longer than a lease', async () => {
    await insert('job_a');
    let now = Date.now();
    const runs: string[] = [];
    let end = () => {};
    const workers = startWorkers(
      {
        jobs: TABLE,
        async work({ lease, signal }) {
          runs.push(lease.token);
          await new Promise<void>((resolve) => {
            end = resolve;
          });
          expect(signal.aborted).toBe(false);
          await TABLE.end(store, lease, { move: 'complete' }, now);
          return undefined;
        },
        endFailed: async () => false,
        onRunEnd() {},
      },
      { store, slots: 2, leaseMs: LEASE_MS, pauseMs: 10, now: () => now, log },
    );
    closing.push(() => workers.close());
    await expect.poll(() => runs.length, { timeout: LONG_MS }).toBe(1);
    now += 10 * LEASE_MS;
    workers.wake();
    const until = async () => (await TABLE.find(store, 'job_a'))?.lease_until;
    await expect.poll(until, { timeout: LONG_MS }).toBe(now + LEASE_MS);
    end();
    await expect.poll(async () => (await TABLE.find(store, 'job_a'))?.state, { timeout: LONG_MS }).toBe('completed');
    expect(runs).toHaveLength(1);
  });

  it.skipIf(!url)('query only announced jobs, and scan now and then for lost ones', async () => {
    let waits = 0;
    const queue = await openNotifications('idle');
    const notifications: JobNotifications = {
      ...queue,
      get healthy() {
        return queue.healthy;
      },
      next(signal) {
        waits++;
        return queue.next(signal);
      },
    };
    const startedMs = Date.now();
    const { queries, done } = start(notifications);
    // Each wait lasts several seconds without a query.
    await expect.poll(() => waits, { timeout: LONG_MS }).toBeGreaterThan(1);
    expect(queries).toMatchObject({ take: 0, takeOne: 0 });
    await insert('job_a');
    notifications.announce('job_a', 0);
    await expect.poll(() => done, { timeout: LONG_MS }).toEqual(['job_a']);
    // Two runs have taken place.
    expect(queries).toMatchObject({ take: 0, takeOne: 2 });
    // This job is not announced.
    await insert('job_b');
    await expect.poll(() => done, { timeout: LONG_MS }).toEqual(['job_a', 'job_b']);
    expect(queries).toMatchObject({ take: 0, takeOne: 4 });
    expect(queries.waiting).toBeLessThanOrEqual(1 + (Date.now() - startedMs) / LEASE_MS);
  });

  it.skipIf(!url)('run a job once, however often and wherever it is announced', async () => {
    const [one, other] = await Promise.all([openNotifications('twice'), openNotifications('twice')]);
    const first = start(one, 1);
    const second = start(other, 1);
    const ids = Array.from({ length: 10 }, (_, at) => `job_${at}`);
    for (const id of ids) {
      await insert(id);
      for (const queue of [one, other, one]) queue.announce(id, 0);
    }
    const done = () => [...first.done, ...second.done].toSorted();
    await expect.poll(() => done().length, { timeout: LONG_MS }).toBeGreaterThanOrEqual(ids.length);
    expect(done()).toEqual(ids);
  });
});
