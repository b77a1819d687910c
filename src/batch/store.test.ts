/**
 * Tests jobs in either database: valid state changes, leases that exclude other workers, and results that are neither
 * lost nor repeated.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openStore, type Store } from '#storage/database/store.ts';
import { type Lease, LeaseLostError } from '#storage/jobs/lease.ts';
import { type JobState, nextState, TRANSITIONS, type TransitionName } from '#storage/jobs/states.ts';
import { postgresUrl } from '../../test/support/services.ts';
import { MIGRATIONS } from './migrations/migrations.ts';
import { PIECE_BYTES } from './objects.ts';
import { readLog, removePieces } from './pieces.ts';
import type { JobRow, LogKind, Tables } from './schema.ts';
import {
  appendInput,
  countInput,
  dropInput,
  findJobToCleanUp,
  findUncharged,
  insertJob,
  JOBS,
  markCleanedUp,
  type NewJob,
  takeWebhook,
  writeProgress,
} from './store.ts';

const url = await postgresUrl();
const HOUR_MS = 3_600_000;
const LEASE_MS = 1_000;

let made = 0;
const newJob = (rest: Partial<NewJob> = {}): NewJob => ({
  id: `job${++made}`,
  owner: `owner${made}`,
  account: 'account',
  model: 'tea',
  options: {},
  baseUrl: 'http://models.example',
  inputUrl: null,
  webhookUrl: null,
  createdAt: 0,
  expiresAt: HOUR_MS,
  ...rest,
});
async function textOf(pieces: AsyncIterable<Uint8Array>): Promise<string> {
  const all: Uint8Array[] = [];
  for await (const piece of pieces) all.push(piece);
  return Buffer.concat(all).toString();
}
const text = (value: string) => Buffer.from(value);
const progress = (doneBytes: number, output = '', errors = '', tokens = 0) => ({
  doneBytes,
  output: text(output),
  errors: text(errors),
  completed: output ? 1 : 0,
  failed: errors ? 1 : 0,
  tokens,
});

describe.each(['sqlite', 'postgres'] as const)('%s', (dialect) => {
  describe.skipIf(dialect === 'postgres' && !url)('store', () => {
    let dir: string;
    let store: Store<Tables>;
    beforeAll(async () => {
      dir = mkdtempSync(path.join(os.tmpdir(), 'batch-'));
      const place = { url: dialect === 'postgres' ? url : undefined, file: path.join(dir, 'batch.db') };
      store = await openStore<Tables>(place, { module: 'batch', migrations: MIGRATIONS });
    });
    afterAll(async () => {
      await store?.close();
      rmSync(dir, { recursive: true, force: true });
    });
    const row = async (id: string): Promise<JobRow> => (await JOBS.find(store, id))!;
    const log = async (jobId: string, kind: LogKind, bytes: number) =>
      textOf(readLog(store, { jobId, kind }, 0, bytes));
    /** Deletes all jobs, so that jobs of other tests cannot be leased. */
    const only = async () => {
      await store.db.deleteFrom('batch_pieces').execute();
      await store.db.deleteFrom('batch_jobs').execute();
    };

    it('leases each job to one worker at a time, the longest waiting first', async () => {
      await only();
      const jobs = [newJob(), newJob({ createdAt: 1 }), newJob({ createdAt: 2 })];
      for (const job of jobs) await insertJob(store, job, { lines: 1, pieces: [text('{}\n')] });
      const taken = await Promise.all(
        Array.from({ length: 6 }, () => JOBS.take(store, { now: 10, leaseMs: LEASE_MS })),
      );
      expect(taken.flatMap((found) => (found ? [found.row.id] : [])).sort()).toEqual(jobs.map(({ id }) => id));
      expect(await JOBS.take(store, { now: 10 + LEASE_MS - 1, leaseMs: LEASE_MS })).toBeUndefined();
      const [first] = taken.filter((found) => found?.row.id === jobs[0]!.id);
      await JOBS.release(store, first!.lease, { readyAt: 50, outcome: 'failed' });
      expect(await JOBS.take(store, { now: 49, leaseMs: LEASE_MS })).toBeUndefined();
      expect((await JOBS.take(store, { now: 50, leaseMs: LEASE_MS }))?.row).toMatchObject({
        id: jobs[0]!.id,
        tries: 1,
      });
      // The jobs of dead workers come before the job that has just run.
      const later = 60 + LEASE_MS;
      const order = [];
      for (let at = 0; at < 3; at++)
        order.push((await JOBS.take(store, { now: later + at, leaseMs: LEASE_MS }))?.row.id);
      expect([order.slice(0, 2).sort(), order[2]]).toEqual([[jobs[1]!.id, jobs[2]!.id], jobs[0]!.id]);
    });

    it('limits an owner to ten unfinished jobs, also for concurrent submissions', async () => {
      await only();
      const owner = 'crowd';
      const outcomes = await Promise.allSettled(
        Array.from({ length: 25 }, () => insertJob(store, newJob({ owner }), { lines: 1, pieces: [text('{}\n')] })),
      );
      const refused = outcomes.filter((outcome) => outcome.status === 'rejected');
      expect(refused).toHaveLength(15);
      for (const { reason } of refused) expect(reason).toMatchObject({ name: 'ResourceLimitExceededError' });
      const [newest] = await JOBS.list(store, owner, 100);
      await JOBS.cancelNow(store, newest!.id, 5);
      await insertJob(store, newJob({ owner }), undefined);
      await expect(insertJob(store, newJob({ owner }), undefined)).rejects.toThrow('10 of 10');
      expect(await JOBS.list(store, owner, 3)).toHaveLength(3);
    });

    it('rejects results of a worker that has lost its lease', async () => {
      await only();
      const job = newJob();
      await insertJob(store, job, { lines: 2, pieces: [text('{}\n{}\n')] });
      const dead = (await JOBS.take(store, { now: 0, leaseMs: LEASE_MS }))!;
      await writeProgress(store, dead.lease, progress(3, 'one\n', '', 5), 1);
      const next = (await JOBS.take(store, { now: LEASE_MS, leaseMs: LEASE_MS }))!;
      expect(next.row).toMatchObject({ id: job.id, done_bytes: 3, output_bytes: 4 });
      const before = await row(job.id);
      for (const late of [
        () => writeProgress(store, dead.lease, progress(6, 'late\n'), 2, 'complete'),
        () => JOBS.renewLease(store, dead.lease, 1e9),
        () => appendInput(store, dead.lease, text('{}')),
        () => countInput(store, dead.lease, 9),
        () => dropInput(store, dead.lease),
      ]) {
        await expect(late()).rejects.toBeInstanceOf(LeaseLostError);
      }
      await JOBS.end(store, dead.lease, { move: 'fail', error: 'late' }, 2);
      await JOBS.release(store, dead.lease, { readyAt: 0, outcome: 'failed' });
      expect(await row(job.id)).toEqual(before);
      await writeProgress(store, next.lease, progress(6, '', 'two\n'), 3, 'complete');
      const done = await row(job.id);
      expect(done).toMatchObject({
        state: 'completed',
        completed: 1,
        failed: 1,
        tokens: 5,
        completed_at: 3,
        lease: null,
      });
      expect(await log(job.id, 'output', done.output_bytes)).toBe('one\n');
      expect(await log(job.id, 'errors', done.error_bytes)).toBe('two\n');
    });

    it('reads logs of any size from any offset', async () => {
      await only();
      const job = newJob();
      const whole = Buffer.alloc(PIECE_BYTES * 2 + 77, 'abcdefghij');
      await insertJob(store, job, { lines: 1, pieces: [whole.subarray(0, 100), whole.subarray(100)] });
      const at = { jobId: job.id, kind: 'input' } as const;
      for (const [from, to] of [
        [0, whole.length],
        [99, 101],
        [PIECE_BYTES + 50, PIECE_BYTES * 2 + 3],
        [whole.length - 1, whole.length],
        [5, 5],
      ] as const) {
        expect(await textOf(readLog(store, at, from, to))).toBe(whole.toString('latin1', from, to));
      }
      while (await removePieces(store, job.id, ['input']));
      await expect(textOf(readLog(store, at, 0, 10))).rejects.toThrow('removed');
    });

    it('cancels a waiting job at once and notifies the worker of a running one', async () => {
      await only();
      const idle = newJob({ webhookUrl: 'http://hook.example' });
      await insertJob(store, idle, undefined);
      await JOBS.requestCancel(store, idle.id, 7);
      expect(await row(idle.id)).toMatchObject({ state: 'cancelled', completed_at: 7, webhook_at: 7, charge_due: 1 });
      const busy = newJob();
      await insertJob(store, busy, { lines: 1, pieces: [text('{}\n')] });
      const { lease } = (await JOBS.take(store, { now: 10, leaseMs: LEASE_MS }))!;
      await JOBS.requestCancel(store, busy.id, 11);
      expect(await JOBS.renewLease(store, lease, 2_000)).toEqual({ cancelling: true });
      await writeProgress(store, lease, progress(0, 'kept\n'), 12, 'cancel');
      expect(await row(busy.id)).toMatchObject({ state: 'cancelled', completed: 1 });
      const before = await row(busy.id);
      await JOBS.requestCancel(store, busy.id, 13);
      await JOBS.cancelNow(store, busy.id, 13);
      expect(await row(busy.id)).toEqual(before);
    });

    it('expires jobs, removes their files, and later the jobs themselves', async () => {
      await only();
      const late = newJob({ webhookUrl: 'http://hook.example' });
      const done = newJob({ webhookUrl: 'http://hook.example' });
      for (const job of [done, late]) await insertJob(store, job, { lines: 1, pieces: [text('{}\n')] });
      const taken = (await JOBS.take(store, { now: 0, leaseMs: LEASE_MS }))!;
      await writeProgress(store, taken.lease, progress(3, 'one\n'), 5, 'complete');
      expect((await takeWebhook(store, 5, 99))?.id).toBe(taken.row.id);
      await JOBS.expire(store, HOUR_MS - 1);
      expect((await row(taken.row.id)).state).toBe('completed');
      await JOBS.expire(store, HOUR_MS);
      // The webhook of the first job was sent when it ended. Removing its files must not send another one.
      expect(await row(taken.row.id)).toMatchObject({ state: 'expired', completed_at: 5, webhook_at: 99 });
      const other = [done, late].find(({ id }) => id !== taken.row.id)!;
      expect(await row(other.id)).toMatchObject({ state: 'expired', completed_at: HOUR_MS, webhook_at: HOUR_MS });
      expect(await JOBS.take(store, { now: HOUR_MS, leaseMs: LEASE_MS })).toBeUndefined();
      await JOBS.forget(store, HOUR_MS);
      expect(await row(other.id)).toBeDefined();
      for (let found = await findJobToCleanUp(store); found; found = await findJobToCleanUp(store)) {
        while (await removePieces(store, found.id, ['input', 'output', 'errors']));
        await markCleanedUp(store, found);
      }
      expect(await store.db.selectFrom('batch_pieces').selectAll().execute()).toEqual([]);
      await store.db.updateTable('batch_jobs').set({ charge_due: 0 }).execute();
      await JOBS.forget(store, HOUR_MS);
      expect(await JOBS.find(store, other.id)).toBeUndefined();
    });

    it('keeps states, logs and counts consistent for any order of operations', async () => {
      const acts = [
        'take',
        'write',
        'complete',
        'cancel',
        'cancel now',
        'fail',
        'release',
        'lapse',
        'beat',
        'wait',
      ] as const;
      const moveOf: Partial<Record<(typeof acts)[number], TransitionName[]>> = {
        take: ['take'],
        complete: ['complete'],
        cancel: ['cancel'],
        'cancel now': ['cancel'],
        fail: ['fail'],
        lapse: ['lapse', 'expire'],
      };
      const steps = fc.array(fc.record({ act: fc.constantFrom(...acts), worker: fc.nat(1) }), { maxLength: 25 });
      await fc.assert(
        fc.asyncProperty(steps, async (given) => {
          await only();
          const job = newJob();
          await insertJob(store, job, { lines: 1, pieces: [text('{}\n')] });
          const leases: (Lease | undefined)[] = [undefined, undefined];
          let now = 1;
          let state: JobState = 'pending';
          let written = 0;
          for (const { act, worker } of given) {
            now++;
            const lease = leases[worker];
            const lost = (error: unknown) => {
              if (!(error instanceof LeaseLostError)) throw error;
              return undefined;
            };
            if (act === 'take')
              leases[worker] = (await JOBS.take(store, { now: now, leaseMs: LEASE_MS }))?.lease ?? lease;
            else if (act === 'wait') now += LEASE_MS;
            else if (act === 'cancel') await JOBS.requestCancel(store, job.id, now);
            else if (act === 'cancel now') await JOBS.cancelNow(store, job.id, now);
            else if (act === 'lapse') {
              if (worker) await JOBS.expire(store, HOUR_MS, job.id);
            } else if (!lease) continue;
            else if (act === 'beat') await JOBS.renewLease(store, lease, now + LEASE_MS).catch(lost);
            else if (act === 'fail') await JOBS.end(store, lease, { move: 'fail', error: 'broken' }, now);
            else if (act === 'release') await JOBS.release(store, lease, { readyAt: 0, outcome: 'done' });
            else {
              const end = act === 'complete' ? 'complete' : undefined;
              const wrote = await writeProgress(store, lease, progress(written + 1, 'x'), now, end).then(
                () => true,
                lost,
              );
              if (wrote) written++;
            }
            const after = await row(job.id);
            if (after.state !== state) {
              expect(
                moveOf[act]?.map((name) => nextState(state, name)),
                `${state} ${act}`,
              ).toContain(after.state);
              state = after.state;
            }
            expect(after).toMatchObject({ completed: written, output_bytes: written, done_bytes: written });
            expect(after.completed_at === null).toBe(TRANSITIONS.take.from.includes(state as never));
            expect((await findUncharged(store))?.id).toBe(after.completed_at === null ? undefined : job.id);
          }
          expect(await log(job.id, 'output', written)).toBe('x'.repeat(written));
        }),
        { seed: 8, numRuns: dialect === 'sqlite' ? 60 : 20 },
      );
    });
  });
});
