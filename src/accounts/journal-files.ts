/** Names and owners of the files of the journal, and the files that killed processes left behind. */
import { createHash, randomBytes } from 'node:crypto';
import { readFileSync, readlinkSync } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { isProcessRunning, processStartTime } from '#concurrency/process-identity.ts';

/** How often a process marks its files as in use, in milliseconds. */
export const HEARTBEAT_MS = 20_000;
/** Age in milliseconds from which a file of a process that cannot be seen from here counts as left behind. */
const ABANDONED_MS = 6 * HEARTBEAT_MS;

const NAME = /^usage-journal-([0-9a-z]+)-([0-9a-z]+)-([0-9a-f]{12})-[0-9a-f]{8}-(\d+)\.jsonl$/;

/** Names the process, so that others can tell whether it is still running. */
export function journalOwner(): string {
  const start = Number(processStartTime(process.pid)).toString(36);
  return `${process.pid.toString(36)}-${start}-${place()}-${randomBytes(4).toString('hex')}`;
}

/** The files of one owner are read in the order of their numbers. */
export const journalName = (owner: string, number: number): string =>
  `usage-journal-${owner}-${String(number).padStart(8, '0')}.jsonl`;

/** Returns the paths of the files whose processes have ended. The files of one process are in order. */
export async function abandonedJournals(folder: string, now = Date.now()): Promise<string[]> {
  const names = await readdir(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return [];
    throw error;
  });
  const found: string[] = [];
  for (const name of names.sort()) {
    const [, pid, start, where] = NAME.exec(name) ?? [];
    if (pid === undefined || start === undefined) continue;
    const file = path.join(folder, name);
    const isLeft =
      where === place()
        ? !isProcessRunning(Number.parseInt(pid, 36), startTime(start))
        : now - (await changedAt(file)) > ABANDONED_MS;
    if (isLeft) found.push(file);
  }
  return found;
}

/** Systems without start times have '', which `journalOwner` writes as 0. */
const startTime = (text: string): string => {
  const start = Number.parseInt(text, 36);
  return start ? String(start) : '';
};

/** Never, if another process has removed the file. */
const changedAt = (file: string): Promise<number> =>
  stat(file).then(
    ({ mtimeMs }) => mtimeMs,
    () => Number.POSITIVE_INFINITY,
  );

let known: string | undefined;

/** Identifies the machine since its start, and the container: process ids are only valid inside it. */
function place(): string {
  known ??= createHash('sha256')
    .update([os.hostname(), bootId(), pidNamespace()].join('\0'))
    .digest('hex')
    .slice(0, 12);
  return known;
}

function bootId(): string {
  try {
    return readFileSync('/proc/sys/kernel/random/boot_id', 'utf8');
  } catch {
    return '';
  }
}

function pidNamespace(): string {
  try {
    return readlinkSync('/proc/self/ns/pid');
  } catch {
    return '';
  }
}
