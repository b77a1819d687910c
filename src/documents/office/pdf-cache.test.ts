/** A PDF is created once, created again if it or its source has changed, and not cached if the creation failed. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createPdfCache } from './pdf-cache.ts';

let dir: string;
beforeAll(async () => {
  dir = await mkdtemp(path.join(os.tmpdir(), 'prints-'));
});
afterAll(() => rm(dir, { recursive: true }));

it('is made once for a file as it is', async () => {
  const prints = createPdfCache();
  const file = path.join(dir, 'slides');
  let made = 0;
  const print = async () => {
    const at = path.join(dir, `print-${++made}`);
    await writeFile(at, 'pdf');
    return at;
  };
  await writeFile(file, 'one');
  await expect(prints(file, () => Promise.reject(new Error('not now')))).rejects.toThrow('not now');
  const first = await prints(file, print);
  expect([await prints(file, print), made]).toEqual([first, 1]);
  await writeFile(file, 'another');
  const second = await prints(file, print);
  expect([second === first, made]).toEqual([false, 2]);
  await rm(second);
  expect([await prints(file, print), made]).toEqual([path.join(dir, 'print-3'), 3]);
});
