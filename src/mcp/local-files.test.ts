import { execFileSync } from 'node:child_process';
import { mkdir, mkdtemp, rm, symlink, truncate, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { ToolError } from './failures.ts';
import { type LocalFiles, openLocalFiles } from './local-files.ts';

let dir: string;
let files: LocalFiles;
const { signal } = new AbortController();

beforeAll(async () => {
  dir = await mkdtemp(path.join(os.tmpdir(), 'lectern-files-'));
  await mkdir(path.join(dir, 'open/below'), { recursive: true });
  await mkdir(path.join(dir, 'open-not'));
  for (const name of ['secret', 'open-not/secret', 'open/a', 'open/below/..b', 'open/large']) {
    await writeFile(path.join(dir, name), name);
  }
  await truncate(path.join(dir, 'open/large'), 100_000_001);
  await symlink('../secret', path.join(dir, 'open/out'));
  await symlink('..', path.join(dir, 'open/up'));
  await symlink('below/..b', path.join(dir, 'open/in'));
  if (process.platform !== 'win32') execFileSync('mkfifo', [path.join(dir, 'open/pipe')]);
  files = await openLocalFiles([path.join(dir, 'open')]);
});
afterAll(() => rm(dir, { recursive: true }));

it.each([
  ['a', 'open/a'],
  ['below/../a', 'open/a'],
  ['in', 'open/below/..b'],
  ['below/..b', 'open/below/..b'],
])('reads %s', async (name, content) => {
  expect(Buffer.from((await files.read(name, signal)).bytes).toString()).toBe(content);
});

it('reads by absolute path and returns the file name', async () => {
  const { name, bytes } = await files.read(path.join(dir, 'open/a'), signal);
  expect([name, Buffer.from(bytes).toString()]).toEqual(['a', 'open/a']);
});

it.each(['../secret', 'below/../../secret', '../open-not/secret', 'out', 'up/secret', '.', '', 'below', 'none', 'a\0'])(
  'does not read %j',
  async (name) => {
    await expect(files.read(name, signal)).rejects.toThrow(ToolError);
    await expect(files.read(name, signal)).rejects.toThrow(/is not a file within/);
  },
);

it('refuses an absolute path outside the folders', async () => {
  await expect(files.read(path.join(dir, 'secret'), signal)).rejects.toThrow(/is not a file within/);
  await expect(files.read('/etc/hostname', signal)).rejects.toThrow(/is not a file within/);
});

it.skipIf(process.platform === 'win32')('does not block on a pipe', async () => {
  await expect(files.read('pipe', signal)).rejects.toThrow(/is not a file within/);
});

it('refuses files that are too large', async () => {
  await expect(files.read('large', signal)).rejects.toThrow(/larger than 100 MB/);
});
