/** `npm run bench:blocked` on our own pages and on a folder of content. */
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';

const run = promisify(execFile);
const ROOT = path.resolve(import.meta.dirname, '..');
const bench = async (...args: string[]) =>
  (await run('npm', ['run', '-s', 'bench:blocked', '--', ...args], { cwd: ROOT })).stdout;

it('prints the recall by kind and the false alarms', async () => {
  const report = await bench('test/fixtures/blocked', '--list');
  expect(report).toMatch(/\| challenge +\| +[\d.]+ \| 1\.000 \|/);
  expect(report).toMatch(/\| all +\| +[\d.]+ \| 1\.000 \| 1\.000/);
  expect(report).toMatch(/false alarms: 0 of \d+ pages of content/);
}, 120_000);

it('takes the pages of a folder without labels for content', async () => {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'bench-blocked-'));
  try {
    await mkdir(path.join(folder, 'html'));
    await writeFile(path.join(folder, 'html', 'wall.html'), '<title>404 Not Found</title><h1>404 Not Found</h1>');
    await writeFile(path.join(folder, 'html', 'tea.html'), '<title>Tea</title><p>Tea is at four.</p>');
    const report = await bench(folder, '--list');
    expect(report).toContain('false alarms: 1 of 2 pages of content');
    expect(report).toContain('wall: content, not not-found by generic');
  } finally {
    await rm(folder, { recursive: true });
  }
}, 120_000);
