/**
 * The cost of an admission in each counter store: `npm run bench:limits`. PostgreSQL and Redis are started if they are
 * installed, and share the processors. The processor time is that of this process only. An admission takes one request,
 * some tokens and a lease of a key. Afterwards, it settles the tokens and returns the lease.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import type { Counters, Take } from '../src/storage/counters/counters.ts';
import { createMemoryCounters } from '../src/storage/counters/memory.ts';
import { openRedisCounters } from '../src/storage/counters/redis.ts';
import { openSqlCounters } from '../src/storage/counters/sql.ts';
import { findProgram, startPostgres, startRedis } from '../test/support/start-services.ts';
import { ownBaseline, programBaseline, report } from './report.ts';
import { machine, sized } from './support.ts';

const SECONDS = Number(process.argv[2] ?? sized(4, 0.1));
const KEYS = 1_000;
const PLENTY = 1e12;

const windowsOnly = Array.from(
  { length: KEYS },
  (_, key): Take => ({
    windows: [
      { bucket: `${key} requests`, limit: PLENTY, amount: 1 },
      { bucket: `${key} tokens`, limit: PLENTY, amount: 120 },
    ],
  }),
);
const withLeases = windowsOnly.map(
  (take, key): Take => ({ ...take, lease: { bucket: `${key} leases`, limit: PLENTY } }),
);

/** One request: admission, then settlement of the tokens and return of the lease. */
async function request(counters: Counters, take: Take): Promise<void> {
  const taken = await counters.take(take);
  if (!taken.ok) throw new Error('the limit was reached; it should be out of reach');
  if (!taken.lease) return;
  counters.settle(take.windows[1]!.bucket, taken.slot, -20);
  counters.release(taken.lease);
}

async function measure(counters: Counters, takes: readonly Take[], atOnce: number): Promise<(string | number)[]> {
  let count = 0;
  const run = async (untilMs: number) => {
    while (performance.now() < untilMs) {
      for (let same = 0; same < 16; same += 1) {
        count += 1;
        await request(counters, takes[count % takes.length]!);
      }
    }
  };
  const all = (seconds: number) => {
    const untilMs = performance.now() + seconds * 1_000;
    return Promise.all(Array.from({ length: atOnce }, () => run(untilMs)));
  };
  // All keys are used once before the measurement starts.
  await Promise.all(takes.map((take) => request(counters, take)));
  await all(SECONDS / 4);
  count = 0;
  const startMs = performance.now();
  const cpu = process.cpuUsage();
  await all(SECONDS);
  const { user, system } = process.cpuUsage(cpu);
  const seconds = (performance.now() - startMs) / 1_000;
  return [Math.round(count / seconds).toLocaleString('en'), ((user + system) / count).toFixed(2)];
}

const dir = mkdtempSync(path.join(os.tmpdir(), 'lectern-bench-'));
const [postgres, redis] = [await startPostgres(), await startRedis()];
const file = path.join(dir, 'counters.db');
const stores: [string, () => Promise<Counters>][] = [['memory', async () => createMemoryCounters()]];
stores.push(['SQLite file', () => openSqlCounters({ file })]);
if (postgres) stores.push(['PostgreSQL', () => openSqlCounters({ url: postgres.url, file })]);
if (redis) stores.push(['Redis', () => openRedisCounters(redis.url)]);

console.log(`${machine()}; ${SECONDS} s each after a warm-up, ${KEYS} keys\n`);
const rows: (string | number)[][] = [];
for (const [name, open] of stores) {
  for (const atOnce of name === 'memory' ? [1] : [1, 256]) {
    const counters = await open();
    const bare = await measure(counters, windowsOnly, atOnce);
    const whole = await measure(counters, withLeases, atOnce);
    rows.push([name, String(atOnce), ...bare, ...whole]);
    await counters.close();
  }
}
const heads = ['store', 'at once', 'takes/s', 'CPU µs a take', 'with lease and settle/s', 'CPU µs each'];
report('limits', heads, rows, {
  baselines: [
    ownBaseline('memory'),
    programBaseline('PostgreSQL', findProgram('postgres') ?? 'postgres', '--version'),
    programBaseline('Redis', findProgram('redis-server', 'valkey-server') ?? 'redis-server', '--version'),
  ],
});
await postgres?.close();
await redis?.close();
rmSync(dir, { recursive: true });
