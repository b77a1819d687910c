/** The capacity model of docs/guide/scaling.md, and the simulation that checks it. */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { BUSY, CORES_A_SERVER, capacityFor, MEASURED, machinesFor, simulate, USUAL } from '../bench/capacity-model.ts';

const GUIDE = readFileSync(path.resolve(import.meta.dirname, '../docs/guide/scaling.md'), 'utf8');
const RATES = [10, 100, 1_000, 10_000];

it('gives the figures of the guide', () => {
  const rows = [...GUIDE.matchAll(/^\| ([\d,]+) \| (.+) GB \| (.+) \|$/gm)].map(([, rate, cells, last]) =>
    [rate!.replace(',', ''), ...cells!.split(' | '), last].map(Number),
  );
  expect(rows.map(([rate]) => rate)).toEqual(RATES);
  for (const [rate, ...shown] of rows) {
    const { serverCores, servers, browserCores, pages, pagesMb, storeCores } = capacityFor(rate!);
    const calculated = [serverCores, servers, browserCores, pages, pagesMb / 1_000, storeCores];
    for (const [at, value] of calculated.entries()) {
      // Two digits are shown.
      expect(Math.abs(value - shown[at]!) / value, `${rate} reads/s, column ${at + 2}`).toBeLessThan(0.05);
    }
  }
});

it('is as busy in the simulation as calculated, and reads wait for less than a tenth of a second', () => {
  for (const rate of [100, 1_000]) {
    const machines = machinesFor(capacityFor(rate));
    const result = simulate(rate, machines, { reads: 60_000 });
    const workMs = rate * (USUAL.cached * MEASURED.cachedMs + (1 - USUAL.cached) * MEASURED.liveMs);
    const busy = workMs / 1_000 / (machines.servers * CORES_A_SERVER);
    expect(Math.abs(result.serversBusy - busy) / busy).toBeLessThan(0.05);
    expect(result.browsersBusy).toBeLessThan(BUSY);
    expect(result.serverWaitMs).toBeLessThan(100);
    expect(result.pageWaitMs).toBeLessThan(100);
    expect(result.openPages).toBeLessThanOrEqual(machines.pages);
  }
});

it('simulates a queue as the theory says', () => {
  const costs = { ...MEASURED, cachedMs: 10, storesCachedMs: 0 };
  const machines = { servers: 1, browserCores: 1, pages: 1, storeCores: 1 };
  const results = [1, 2, 3].map((seed) =>
    simulate(50 * CORES_A_SERVER, machines, { costs, mix: { cached: 1, browser: 0 }, reads: 100_000, seed }),
  );
  for (const { serversBusy } of results) expect(serversBusy).toBeCloseTo(0.5, 1);
  // Four cores, two of them busy, and 10 ms of work for each read: by Erlang's C formula, 17.4 % of the reads wait, and
  // 1 % of all wait longer than ln(17.4) · 10 ms / (4 - 2) = 14.3 ms.
  for (const { serverWaitMs } of results) expect(Math.abs(serverWaitMs - 14.3)).toBeLessThan(1.5);
});
