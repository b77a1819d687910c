import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { readPending, savePending } from './pending.ts';
import type { Charge } from './records.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(path.join(os.tmpdir(), 'lectern-pending-'));
});
afterEach(() => rm(folder, { recursive: true }));

const charge = (id: string, extra: Partial<Charge> = {}): Charge => ({
  ...{ id, at: 1, accountId: 'a', keyId: 'k', face: 'reader', endpoint: 'reader', model: '' },
  ...{ tokens: 1, status: 200, durationMs: 1 },
  ...extra,
});

it('reads the files of several processes, and removes only the files it read', async () => {
  const hold = { id: 'h', accountId: 'a', tokens: 5 };
  await savePending(folder, [charge('1'), charge('2', { hold, model: 'a\nb' })]);
  await savePending(folder, [charge('3', { hold: undefined })]);
  const { charges, remove } = await readPending(folder);
  expect(charges.toSorted((a, b) => (a.id < b.id ? -1 : 1))).toEqual([
    charge('1'),
    charge('2', { hold, model: 'a\nb' }),
    charge('3'),
  ]);
  await savePending(folder, [charge('4')]);
  await remove();
  expect((await readPending(folder)).charges).toEqual([charge('4')]);
});

it('returns no charges when there is no file', async () => {
  expect((await readPending(path.join(folder, 'none'))).charges).toEqual([]);
});

it('skips a damaged file with a warning and leaves it in place', async () => {
  await savePending(folder, [charge('1')]);
  for (const [name, text] of [
    ['cut', JSON.stringify(charge('2')).slice(0, -3)],
    ['other', '{"id":"3"}\n'],
  ]) {
    await writeFile(path.join(folder, `pending-usage-${name}.jsonl`), text!);
  }
  const warned: string[] = [];
  const log = { warn: (_: unknown, message: string) => warned.push(message) } as never;
  const { charges, remove } = await readPending(folder, log);
  expect(charges).toEqual([charge('1')]);
  await remove();
  const left = ['pending-usage-cut.jsonl', 'pending-usage-other.jsonl'];
  expect((await readdir(folder)).sort()).toEqual(left);
  expect(warned.sort()).toEqual(left.map((name) => `${name} cannot be read; the usage in it is not counted`));
});
