/** The quick lane runs its tests and skips tests with real components. */
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { quickTests } from './support/test-lanes.ts';
import { LONG_FILES } from './support/test-order.ts';

const ROOT = path.resolve(import.meta.dirname, '..');

it('skips files with real parts and files marked for the full run', () => {
  const files = quickTests(ROOT);
  expect(files.length).toBeGreaterThan(100);
  expect(files).toContain(path.join('src', 'own-value.test.ts'));
  for (const file of ['reader/engines/browser/engine', 'documents/pdf/hostile', 'storage/database/store'])
    expect(files).not.toContain(path.normalize(`src/${file}.test.ts`));
});

it('files that start first exist', () => {
  expect(LONG_FILES.filter((file) => !existsSync(path.join(ROOT, file)))).toEqual([]);
});

it('runs', { timeout: 120_000 }, () => {
  const vitest = path.join(ROOT, 'node_modules/vitest/vitest.mjs');
  const args = [vitest, 'run', '--project', 'quick', 'src/own-value.test.ts', '--reporter=json'];
  const { status, stdout } = spawnSync(process.execPath, args, { cwd: ROOT, encoding: 'utf8' });
  expect(status, stdout).toBe(0);
  expect(JSON.parse(stdout.slice(stdout.indexOf('{'))).numPassedTests).toBeGreaterThan(5);
});
