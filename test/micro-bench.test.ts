/** The benchmark of micro-pages, on one page. */
import { execFile } from 'node:child_process';
import path from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';

const ROOT = path.resolve(import.meta.dirname, '..');
const run = (...more: string[]) =>
  promisify(execFile)('npm', ['run', '-s', 'bench:micro', '--', ...more], { cwd: ROOT, encoding: 'utf8' });

it('compares three programs', { timeout: 180_000 }, async () => {
  const { stdout } = await run('--family', 'poems', '--limit', '1');
  expect(stdout).toContain('1 pages at 8 URLs');
  expect(stdout.match(/^\| poems +\| 1 +\| [01] +\| [01] +\| [01] +\|$/gm)).toHaveLength(3);
});

it('prints the answer to a page', { timeout: 180_000 }, async () => {
  const { stdout } = await run('--family', 'poems', '--page', 'lines with breaks, bare');
  expect(stdout).toContain('lost: []');
  expect(stdout).toMatch(/^The tide has gone to fetch the night,/m);
});

it('names the families if there is no such family', { timeout: 180_000 }, async () => {
  await expect(run('--family', 'odes')).rejects.toThrow(/no family "odes"; choose one of: lists, .*poems/);
});
