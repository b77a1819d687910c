/** Charges that could not be written before the end of a process: kept in a file until the next one takes them up. */
import { randomUUID } from 'node:crypto';
import { mkdir, readdir, readFile, rm } from 'node:fs/promises';
import path from 'node:path';
import * as z from 'zod';
import { writeWhole } from '#storage/files.ts';
import type { Log } from '#telemetry/log.ts';
import type { Charge } from './records.ts';

/** Each process writes a file of its own, so that none spoils another's. */
const FILE = /^pending-usage-[\w-]+\.jsonl$/;

export interface Pending {
  readonly charges: Charge[];
  /** The files they came from; to be removed when all is written. What is read twice is still counted once. */
  remove(): Promise<void>;
}

/** A line a charge, in a file that its owner alone may read. */
export async function savePending(folder: string, charges: readonly Charge[]): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const text = charges.map((charge) => `${JSON.stringify(charge)}\n`).join('');
  await writeWhole(path.join(folder, `pending-usage-${randomUUID()}.jsonl`), text);
}

export async function readPending(folder: string, log?: Pick<Log, 'warn'>): Promise<Pending> {
  const names = await readdir(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return [];
    throw error;
  });
  const files: string[] = [];
  const charges: Charge[] = [];
  for (const name of names.filter((name) => FILE.test(name))) {
    const file = path.join(folder, name);
    try {
      charges.push(...parse(await readFile(file, 'utf8')));
      files.push(file);
    } catch (error) {
      // Another process may have been quicker with it; one that is damaged stays for people to look at.
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') log?.warn({ err: error }, `${name} cannot be read`);
    }
  }
  return {
    charges,
    remove: async () => {
      for (const file of files) await rm(file, { force: true });
    },
  };
}

const whole = z.int().min(0);
const shape = z.strictObject({
  id: z.string(),
  at: whole,
  accountId: z.string(),
  keyId: z.string(),
  face: z.string(),
  endpoint: z.string(),
  model: z.string(),
  tokens: whole,
  status: whole,
  durationMs: whole,
  hold: z.strictObject({ id: z.string(), accountId: z.string(), tokens: whole }).optional(),
});

const parse = (text: string): Charge[] =>
  text
    .split('\n')
    .filter(Boolean)
    .map((line) => shape.parse(JSON.parse(line)));
