import { mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { createKeys, openKeyStore } from './keys.ts';

let dir: string;
beforeEach(async () => {
  dir = await mkdtemp(path.join(os.tmpdir(), 'lectern-keys-'));
});
afterEach(() => rm(dir, { recursive: true }));

it('knows a key again after a restart, and no other', async () => {
  const keys = createKeys(await openKeyStore(dir));
  expect(keys.empty).toBe(true);
  const { key, record } = await keys.mint('mine');
  expect(key).toMatch(/^lectern_[\w-]{43}$/);
  const reopened = createKeys(await openKeyStore(dir));
  expect(reopened.empty).toBe(false);
  expect(reopened.identify(key)).toEqual(record);
  expect(reopened.identify(`${key}x`)).toBeUndefined();
  expect(reopened.identify('')).toBeUndefined();
});

it('keeps no key, only what cannot be turned back, where nobody else may look', async () => {
  const keys = createKeys(await openKeyStore(dir));
  const { key } = await keys.mint('mine');
  const folder = path.join(dir, 'accounts');
  const files = await readdir(folder);
  expect(files.sort()).toEqual(['keys.json', 'secret']);
  for (const file of files) {
    expect(await readFile(path.join(folder, file), 'latin1')).not.toContain(key.slice(14));
    expect((await stat(path.join(folder, file))).mode & 0o077).toBe(0);
  }
});

it('has another hash for the same key elsewhere', async () => {
  const first = createKeys(await openKeyStore(dir));
  const { key } = await first.mint('mine');
  const other = await mkdtemp(path.join(os.tmpdir(), 'lectern-keys-'));
  expect(createKeys(await openKeyStore(other)).identify(key)).toBeUndefined();
  await rm(other, { recursive: true });
});

it('loses none of many keys made at once', async () => {
  const keys = createKeys(await openKeyStore(dir));
  const made = await Promise.all(Array.from({ length: 20 }, (_, n) => keys.mint(`key ${n}`)));
  const reopened = createKeys(await openKeyStore(dir));
  expect(made.every(({ key, record }) => reopened.identify(key)?.id === record.id)).toBe(true);
});
