/** A process that is killed while it writes leaves a consistent cache: each copy is complete or absent. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { openDatabase } from '#storage/database/sqlite.ts';
import { bundleProcess } from '../../../test/support/bundled.ts';
import { last, page, request } from './cache.suite.ts';
import { openCache } from './cache.ts';

/** The total size of about 140 of the 300 pages, so that pages are evicted all the time. */
const MAX_BYTES = 800_000;

let dir: string;
let child: ChildProcess | undefined;
beforeEach(() => {
  dir = mkdtempSync(path.join(os.tmpdir(), 'cache-crash-'));
});
afterEach(() => {
  child?.kill('SIGKILL');
  rmSync(dir, { recursive: true, force: true });
});

async function killedWriter(from: number, lines: number): Promise<void> {
  const program = await bundleProcess(path.join(import.meta.dirname, 'writer-process.suite.ts'));
  child = spawn(process.execPath, [program, path.join(dir, 'cache'), String(from), String(MAX_BYTES)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let seen = 0;
  for await (const _ of createInterface({ input: child.stdout! })) {
    seen++;
    if (seen === lines) child.kill('SIGKILL');
  }
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
  expect(child.signalCode).toBe('SIGKILL');
}

it('is consistent after being killed while writing', async () => {
  let kept = 0;
  for (let round = 0; round < 3; round++) {
    await killedWriter(round * 10_000, 150 + round * 50);
    const warnings: string[] = [];
    const log = { warn: (_: unknown, message: string) => warnings.push(message) } as never;
    const cache = await openCache({
      dir: path.join(dir, 'cache'),
      maxBytes: MAX_BYTES,
      freshMs: 1e9,
      keepMs: 1e9,
      mayServeCached: async () => true,
      log,
    });
    for (let n = 0; n < 300; n++) {
      const url = `https://tea.example/${n}`;
      const live = async function* () {
        yield page('anew', { settled: false });
      };
      const { text, cachedAt } = await last(cache.getOrRead(request({}, url), live));
      if (cachedAt === undefined) continue;
      kept++;
      const [, begin, end] = /begin (\d+) .* end (\d+)<\/p>$/.exec(text) ?? [];
      expect(begin).toBeDefined();
      expect(end).toBe(begin);
      expect(Number(begin) % 300).toBe(n);
    }
    await expectConsistent();
    await cache.close();
    expect(warnings).toEqual([]);
  }
  expect(kept).toBeGreaterThan(50);
}, 180_000);

/** Each file has a row, each row has its file, and the stored total is the sum of the rows. */
async function expectConsistent(): Promise<void> {
  const database = await openDatabase(path.join(dir, 'cache', 'index.db'), ['-- made by the cache']);
  const filed = () =>
    readdirSync(path.join(dir, 'cache', 'blobs'), { recursive: true, withFileTypes: true })
      .flatMap((entry) => (entry.isFile() ? [entry.name] : []))
      .sort();
  const named = () => database.all<{ hash: string }>('SELECT hash FROM blobs ORDER BY hash').map(({ hash }) => hash);
  // Blobs without a row are removed after the cache is opened.
  await expect.poll(filed, { timeout: 30_000 }).toEqual(named());
  expect({ ...database.get('PRAGMA integrity_check') }).toEqual({ integrity_check: 'ok' });
  const { total, sum, unused } = database.get<{ total: number; sum: number; unused: number }>(`
    SELECT (SELECT bytes FROM total) AS total,
      (SELECT sum(bytes) FROM blobs) + (SELECT sum(bytes) FROM copies) AS sum,
      (SELECT count(*) FROM blobs WHERE hash NOT IN (SELECT hash FROM parts)) AS unused`)!;
  database.close();
  expect(total).toBe(sum);
  expect(total).toBeLessThanOrEqual(MAX_BYTES);
  expect(unused).toBe(0);
}
