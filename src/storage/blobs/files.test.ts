import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { testBlobs } from './blobs.suite.ts';
import { blobName } from './blobs.ts';
import { bytesOnDisk, createFileBlobs, type FileBlobs } from './files.ts';

let dir: string;
let blobs: FileBlobs;
beforeEach(() => {
  dir = mkdtempSync(path.join(os.tmpdir(), 'blobs-'));
  blobs = createFileBlobs(path.join(dir, 'blobs'));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

testBlobs('files', async () => ({
  blobs,
  damage: async (name, bytes) => writeFileSync(path.join(dir, 'blobs', name.slice(0, 2), name), bytes),
  close: async () => {},
}));

const bytes = Buffer.from('a cup of tea');
const name = blobName(bytes);
const files = () =>
  readdirSync(dir, { recursive: true, withFileTypes: true }).flatMap((entry) => (entry.isFile() ? [entry.name] : []));

it('leaves no partial file when it cannot write', async () => {
  writeFileSync(path.join(dir, 'blobs'), 'a file where the folder must be');
  await expect(blobs.put(name, bytes)).rejects.toThrow();
  expect(await blobs.get(name)).toBeUndefined();
  expect(readFileSync(path.join(dir, 'blobs'), 'utf8')).toBe('a file where the folder must be');
});

it('removes unused and partial files', async () => {
  const other = Buffer.from('a bag of rice');
  await blobs.put(name, bytes);
  await blobs.put(blobName(other), other);
  writeFileSync(path.join(dir, 'blobs', name.slice(0, 2), `${name}.1234.part`), 'half');
  mkdirSync(path.join(dir, 'blobs', 'zz', 'folder'), { recursive: true });
  for await (const _ of blobs.removeAllExcept((found) => found === name));
  expect(files()).toEqual([name]);
  expect(existsSync(path.join(dir, 'blobs', 'zz', 'folder'))).toBe(false);
  for await (const _ of createFileBlobs(path.join(dir, 'none')).removeAllExcept(() => true));
});

it('counts whole blocks', () => {
  expect([0, 1, 4096, 4097].map(bytesOnDisk)).toEqual([4096, 4096, 4096, 8192]);
});
