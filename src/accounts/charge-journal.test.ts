import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, readFile, rename, rm, stat, utimes, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { processStartTime } from '#concurrency/process-identity.ts';
import { type ChargeJournal, openChargeJournal } from './charge-journal.ts';
import { abandonedJournals } from './journal-files.ts';
import { chargeOfLine, journalLine } from './journal-line.ts';
import { readPending } from './pending.ts';
import type { Charge } from './records.ts';

let folder: string;
let journal: ChargeJournal;
const warned: string[] = [];
const log = {
  info() {},
  warn: (...given: unknown[]) => warned.push(String(given.at(-1))),
} as never;
beforeEach(async () => {
  folder = await mkdtemp(path.join(os.tmpdir(), 'lectern-journal-'));
  warned.length = 0;
  journal = openChargeJournal({ folder, log });
});
afterEach(async () => {
  journal.close();
  await rm(folder, { recursive: true });
});

const charge = (id: string, extra: Partial<Charge> = {}): Charge => ({
  ...{ id, at: 1, accountId: 'a', keyId: 'k', face: 'reader', endpoint: 'reader', model: '' },
  ...{ tokens: 1, status: 200, durationMs: 1, hold: undefined },
  ...extra,
});
const written = (given: Charge) => new Promise<void>((resolve) => journal.write(given, resolve));
const files = async () => (await readdir(folder)).sort().map((name) => path.join(folder, name));
const texts = async () => Promise.all((await files()).map((file) => readFile(file, 'utf8')));
const lines = async () => (await texts()).join('').split('\n').filter(Boolean).map(chargeOfLine);

/** Renames the files as if a process had written them that has ended since. */
async function leaveBehind(): Promise<void> {
  const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)']);
  await once(child, 'spawn');
  const [pid, start] = [child.pid!, Number(processStartTime(child.pid!))].map((number) => number.toString(36));
  child.kill('SIGKILL');
  await once(child, 'exit');
  for (const file of await files()) await rename(file, file.replace(/journal-\w+-\w+-/, `journal-${pid}-${start}-`));
}

it('has a charge in a file of its owner before it says so, and writes those of a tick at once', async () => {
  const hold = { id: 'h', accountId: 'a', tokens: 5 };
  await Promise.all([written(charge('1')), written(charge('2', { hold, model: 'a\n"b' }))]);
  expect(await lines()).toEqual([charge('1'), charge('2', { hold, model: 'a\n"b' })]);
  expect((await stat((await files())[0]!)).mode & 0o077).toBe(0);
});

it('writes a charge again only if its cost or status has changed', async () => {
  await written(charge('1'));
  await written(charge('1', { durationMs: 7 }));
  await written(charge('1', { tokens: 2 }));
  await written(charge('1', { tokens: 2, status: 499 }));
  expect((await lines()).map(({ tokens, status }) => [tokens, status])).toEqual([
    [1, 200],
    [2, 200],
    [2, 499],
  ]);
});

it('is empty once its charges are stored elsewhere, and keeps the others', async () => {
  await Promise.all(['1', '2', '3'].map((id) => written(charge(id))));
  journal.release([charge('1'), charge('3'), charge('unknown')]);
  expect(await lines()).toHaveLength(3);
  journal.release([charge('2')]);
  expect(await texts()).toEqual(['']);
  await written(charge('4'));
  expect(await lines()).toEqual([charge('4')]);
  journal.release([charge('4')]);
  journal.close();
  expect(await files()).toEqual([]);
});

it('begins a new file after a megabyte, and removes each when its charges are stored', async () => {
  const many = Array.from({ length: 60 }, (_, n) => charge(`${n}`, { model: 'm'.repeat(100_000) }));
  for (const one of many) await written(one);
  expect((await files()).length).toBeGreaterThan(4);
  journal.release(many.slice(0, -1));
  expect((await files()).length).toBeLessThanOrEqual(2);
  expect((await lines()).at(-1)).toEqual({ ...many.at(-1), model: 'm'.repeat(200).slice(0, 200) });
});

describe('files of other processes', () => {
  it('are loaded when their process has ended, and not before', async () => {
    await written(charge('1'));
    await written(charge('1', { tokens: 9 }));
    expect(await abandonedJournals(folder)).toEqual([]);
    await leaveBehind();
    const { charges, remove } = await readPending(folder, log);
    expect(charges).toEqual([charge('1', { tokens: 9 })]);
    await remove();
    expect(await files()).toEqual([]);
    expect(warned).toEqual([]);
  });

  it('of another container are loaded when they have not been marked as in use for two minutes', async () => {
    await written(charge('1'));
    const [file] = await files();
    const other = file!.replace(/-[0-9a-f]{12}-/, '-0123456789ab-');
    await rename(file!, other);
    expect(await abandonedJournals(folder)).toEqual([]);
    const before = new Date(Date.now() - 125_000);
    await utimes(other, before, before);
    expect(await abandonedJournals(folder)).toEqual([other]);
  });

  it('that are damaged are counted as far as they can be read, and left for the operator', async () => {
    await written(charge('1'));
    const [file] = await files();
    const whole = journalLine(charge('2'));
    await writeFile(file!, `${await readFile(file!, 'utf8')}${whole}["3",1,null]\n${whole.slice(0, -9)}`);
    await leaveBehind();
    const { charges, remove } = await readPending(folder, log);
    expect(charges).toEqual([charge('1'), charge('2')]);
    expect(warned.join()).toMatch(/^2 lines of usage-journal-[\w-]+\.jsonl cannot be read/);
    await remove();
    const [left] = await files();
    expect(left).toMatch(/\.jsonl\.damaged$/);
    expect((await readPending(folder, log)).charges).toEqual([]);
  });
});

it('says once that it has its maximum size, and lets the answers leave', async () => {
  journal.close();
  journal = openChargeJournal({ folder, maxBytes: 200, log });
  for (const id of ['1', '2', '3', '4', '5', '6']) await written(charge(id, { model: 'm'.repeat(50) }));
  expect((await lines()).length).toBeLessThan(6);
  expect(warned.join('\n')).toMatch(/^the journal of usage has its maximum size of 200 bytes/);
  expect(warned).toHaveLength(1);
});

it('says once that it cannot be written, and lets the answers leave', async () => {
  const file = path.join(folder, 'not-a-folder');
  await writeFile(file, '');
  const failing = openChargeJournal({ folder: file, log });
  for (const id of ['1', '2']) await new Promise<void>((resolve) => failing.write(charge(id), resolve));
  failing.close();
  expect(warned).toHaveLength(1);
});
