/**
 * Saves charges to files if they could not be written to the database. A later process loads them, together with the
 * journals of killed processes.
 */
import { randomUUID } from 'node:crypto';
import { mkdir, readdir, readFile, rename, rm } from 'node:fs/promises';
import path from 'node:path';
import * as z from 'zod';
import { writeAtomically } from '#storage/files.ts';
import type { Log } from '#telemetry/log.ts';
import { abandonedJournals } from './journal-files.ts';
import { chargeOfLine } from './journal-line.ts';
import type { Charge } from './records.ts';

/** Each save writes a new file, so that processes do not overwrite each other's files. */
const FILE = /^pending-usage-[\w-]+\.jsonl$/;

export interface Pending {
  readonly charges: Charge[];
  /**
   * Removes the files. Call this only after all charges have been written. A charge that is loaded twice counts once.
   */
  remove(): Promise<void>;
}

/** Writes one line per charge to a file that only its owner may read. */
export async function savePending(folder: string, charges: readonly Charge[]): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const text = charges.map((charge) => `${JSON.stringify(charge)}\n`).join('');
  await writeAtomically(path.join(folder, `pending-usage-${randomUUID()}.jsonl`), text);
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
      // ENOENT: another process has already loaded it. A damaged file is left for the operator.
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT')
        log?.warn({ err: error }, `${name} cannot be read; the usage in it is not counted`);
    }
  }
  const journals = await readJournals(folder, log);
  return {
    charges: [...charges, ...journals.charges],
    remove: async () => {
      for (const file of files) await rm(file, { force: true });
      await journals.remove();
    },
  };
}

/** Reads the journals of killed processes. The last line with an id counts. */
async function readJournals(folder: string, log?: Pick<Log, 'warn'>) {
  const intact: string[] = [];
  const damaged: string[] = [];
  const charges = new Map<string, Charge>();
  for (const file of await abandonedJournals(folder)) {
    const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOENT')
        log?.warn({ err: error }, `${path.basename(file)} cannot be read; the usage in it is not counted`);
    });
    if (text === undefined) continue;
    let unreadable = 0;
    for (const line of text.split('\n').filter(Boolean)) {
      try {
        const charge = chargeOfLine(line);
        charges.set(charge.id, charge);
      } catch {
        unreadable++;
      }
    }
    (unreadable ? damaged : intact).push(file);
    if (unreadable)
      log?.warn(`${unreadable} lines of ${path.basename(file)} cannot be read; the usage in them is not counted`);
  }
  return {
    charges: charges.values(),
    async remove() {
      for (const file of intact) await rm(file, { force: true });
      // Only a full disk or a crash of the machine cuts a line. The operator may read what is left of it.
      for (const file of damaged) await rename(file, `${file}.damaged`).catch(ignoreMissing);
    },
  };
}

/** Another process may have removed the file first. */
function ignoreMissing(error: NodeJS.ErrnoException): void {
  if (error.code !== 'ENOENT') throw error;
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
