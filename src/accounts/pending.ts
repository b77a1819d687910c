/** Charges that could not be written before the end of a process: kept in a file until the next one takes them up. */
import { randomUUID } from 'node:crypto';
import { mkdir, readdir, readFile, rm } from 'node:fs/promises';
import path from 'node:path';
import { writeWhole } from '#storage/files.ts';
import type { Charge } from './records.ts';

/** Each process writes a file of its own, so that none spoils another's. */
const FILE = /^pending-usage-[\w-]+\.jsonl$/;

export interface Pending {
  readonly charges: Charge[];
  /** The files they came from; to be removed when all is written. What is read twice is still counted once. */
  forget(): Promise<void>;
}

/** A line a charge, in a file that its owner alone may read. */
export async function keepPending(folder: string, charges: readonly Charge[]): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const text = charges.map((charge) => `${JSON.stringify(charge)}\n`).join('');
  await writeWhole(path.join(folder, `pending-usage-${randomUUID()}.jsonl`), text);
}

export async function readPending(folder: string): Promise<Pending> {
  const names = await readdir(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return [];
    throw error;
  });
  const files = names.filter((name) => FILE.test(name)).map((name) => path.join(folder, name));
  // Another process may have been quicker with one of them.
  const texts = await Promise.all(files.map((file) => readFile(file, 'utf8').catch(() => '')));
  return {
    charges: texts.flatMap((text) => text.split('\n').filter(Boolean)).map((line) => JSON.parse(line) as Charge),
    forget: async () => {
      for (const file of files) await rm(file, { force: true });
    },
  };
}
