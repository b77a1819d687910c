/** Tests several processes that use one counter store at the same time. */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { bundleProcess } from '../../../test/support/bundled.ts';
import { postgresUrl, redisUrl } from '../../../test/support/services.ts';
import { type Burst, openSharedCounters, type StoreLocation } from '../../../test/support/shared-counters.ts';
import { type Counters, LEASE_MS, SLOT_MS, WINDOW_MS } from './counters.ts';

const WORKER = path.resolve(import.meta.dirname, '../../../test/support/counters-worker.ts');
const PROCESSES = 4;
const SEEDS = 20;
const TAKES = 1_000;

const dir = mkdtempSync(path.join(os.tmpdir(), 'counters-'));
afterAll(() => rmSync(dir, { recursive: true, force: true }));
const file = path.join(dir, 'counters.db');
const places: Record<string, StoreLocation | undefined> = {
  'a SQLite file': { file },
  PostgreSQL: placeIf('postgres', await postgresUrl()),
  Redis: placeIf('redis', await redisUrl()),
};
function placeIf(kind: 'postgres' | 'redis', url: string | undefined): StoreLocation | undefined {
  return url ? { file, [kind]: url } : undefined;
}

describe.each(Object.entries(places))('%s, shared by four processes', (_name, place) => {
  describe.skipIf(!place)('each taking as fast as it can', () => {
    let workers: ChildProcess[];
    let counters: Counters;
    let nowMs = 0;
    beforeAll(async () => {
      counters = await openSharedCounters(place!, { clock: () => nowMs });
      const program = await bundleProcess(WORKER);
      workers = Array.from({ length: PROCESSES }, () => fork(program, [JSON.stringify(place)], { execArgv: [] }));
      await Promise.all(workers.map(answerOf));
    }, 120_000);
    afterAll(async () => {
      for (const worker of workers ?? []) worker.kill('SIGKILL');
      await counters?.close();
    });

    /** Returns how many calls of `take` succeed if all processes call it at the same time. */
    const passed = async (wave: Burst): Promise<number> => {
      const answers = workers.map(answerOf);
      for (const worker of workers) worker.send({ ...wave, count: wave.count / PROCESSES });
      return (await Promise.all(answers)).reduce((total, count) => total + count, 0);
    };

    it('passes exactly the limit at the edge of the window, over many seeds', async () => {
      const random = randomFrom(11);
      for (let seed = 0; seed < SEEDS; seed += 1) {
        const bucket = `edge ${seed}`;
        const amount = seed % 2 ? random(2, 9) : 1;
        const limit = random(20, 900) * amount;
        const staying = random(0, limit - 1);
        const startMs = 1_800_000_000_000 + random(0, 10 * SLOT_MS);
        const edgeMs = (Math.floor(startMs / SLOT_MS) + 1) * SLOT_MS + WINDOW_MS;
        const take = { windows: [{ bucket, limit, amount }] };

        nowMs = startMs;
        await counters.take({ windows: [{ bucket, limit, amount: limit - staying }] });
        nowMs = startMs + SLOT_MS;
        await counters.take({ windows: [{ bucket, limit, amount: staying }] });
        expect(await passed({ take, count: 2 * PROCESSES, nowMs: edgeMs - 1 })).toBe(0);
        expect(await passed({ take, count: TAKES, nowMs: edgeMs })).toBe(Math.floor((limit - staying) / amount));
      }
    }, 300_000);

    it('passes exactly the limit of windows and leases by the store’s clock', async () => {
      const wide = { bucket: 'own wide', limit: 2 * TAKES, amount: 1 };
      const windows = [wide, { bucket: 'own', limit: 321, amount: 1 }];
      expect(await passed({ take: { windows }, count: TAKES })).toBe(321);
      const leased = { windows: [wide], lease: { bucket: 'own', limit: 123 } };
      expect(await passed({ take: leased, count: TAKES })).toBe(123);
      const looked = await openSharedCounters(place!, {});
      // Refused calls must not have counted in the wide window either.
      expect(await looked.take({ windows: [{ ...wide, amount: 0 }] })).toMatchObject({
        windows: [{ used: 321 + 123 }],
      });
      await looked.close();
    }, 120_000);

    it('frees leases of a dead process once they expire', async () => {
      nowMs = 1_800_000_000_000;
      const lease = { bucket: 'dead', limit: 7 };
      expect(await passed({ take: { windows: [], lease }, count: 40, nowMs })).toBe(7);
      for (const worker of workers) worker.kill('SIGKILL');
      nowMs += LEASE_MS - 1;
      expect(await counters.take({ windows: [], lease })).toMatchObject({ ok: false, over: 'lease', current: 7 });
      nowMs += 1;
      expect(await counters.take({ windows: [], lease })).toMatchObject({ ok: true });
    }, 120_000);
  });
});

/** Resolves with the worker's next message, or rejects if the worker exits first. */
async function answerOf(worker: ChildProcess): Promise<number> {
  const over = new AbortController();
  const { signal } = over;
  try {
    const ended = once(worker, 'exit', { signal }).then(() => {
      throw new Error('a worker has exited');
    });
    const [answer] = (await Promise.race([once(worker, 'message', { signal }), ended])) as [number];
    return answer;
  } finally {
    over.abort();
  }
}

/**
 * Generates integers from a seed, both bounds included. A linear congruential generator is good enough to vary a test.
 */
function randomFrom(seed: number): (least: number, most: number) => number {
  let state = seed;
  return (least, most) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return least + Math.floor((state / 2 ** 32) * (most - least + 1));
  };
}
