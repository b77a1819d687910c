import { existsSync } from 'node:fs';
import { mkdtemp, rm, stat, symlink, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { createFolder } from './create-folder.ts';

async function temporary(): Promise<string> {
  const dir = await mkdtemp(path.join(os.tmpdir(), 'lectern-create-folder-'));
  onTestFinished(() => rm(dir, { recursive: true, force: true }));
  return dir;
}

it('creates the missing parents, with the mode, also at once and again', async () => {
  const dir = await temporary();
  const folder = path.join(dir, 'a', 'b', 'c');
  await Promise.all([createFolder(folder, 0o700), createFolder(path.join(dir, 'a', 'b', 'd'), 0o700)]);
  await createFolder(folder);
  for (const name of [folder, path.join(dir, 'a')]) expect((await stat(name)).mode & 0o777).toBe(0o700);
});

it('rejects a file with the name of the folder or of a parent', async () => {
  const dir = await temporary();
  const file = path.join(dir, 'file');
  await writeFile(file, '');
  await expect(createFolder(file)).rejects.toMatchObject({ code: 'EEXIST' });
  await expect(createFolder(path.join(file, 'a'))).rejects.toMatchObject({ code: 'ENOTDIR' });
  await symlink('nowhere', path.join(dir, 'link'));
  await expect(createFolder(path.join(dir, 'link'))).rejects.toMatchObject({ code: 'EEXIST' });
});

it.skipIf(!existsSync('/proc/self'))('rejects a folder in /proc', async () => {
  await expect(createFolder('/proc/lectern/data')).rejects.toMatchObject({ code: 'ENOENT', path: '/proc/lectern' });
});
