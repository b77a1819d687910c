/**
 * Working directories of external programs, which run in their own process groups. A killed server cannot end its
 * programs, so each folder records the process that uses it, and the server ends that process at its next start.
 */
import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { readFileSync, readlinkSync, realpathSync, writeFileSync } from 'node:fs';
import { mkdir, readdir, rm } from 'node:fs/promises';
import path from 'node:path';
import { childEnvironment } from './environment.ts';
import { removeOfficePipe } from './office-pipe.ts';
import { isProcessRunning, processStartTime } from './process-identity.ts';

export interface ProgramFolder {
  readonly path: string;
  /**
   * Records the process that uses this folder. Its command line must contain the folder, or it must have been started
   * in it.
   */
  recordProcess(pid: number): void;
  remove(): Promise<void>;
}

interface ProcessRecord {
  readonly server: number;
  readonly serverStart: string;
  readonly pid: number;
}

const FOLDER = 'programs';
const RECORD_FILE = 'job.json';

/** The process ids of the servers that have a folder under `root`. */
export async function findRunningServers(root: string): Promise<number[]> {
  const names = await readdir(root).catch(() => []);
  return names.flatMap((name) => {
    const [, pid, start] = /^(\d+)-(\d*)-/.exec(name) ?? [];
    return pid && isProcessRunning(Number(pid), start ?? '') ? [Number(pid)] : [];
  });
}

/**
 * Creates a folder under `root` for the temporary files of this server. Removes the folders of servers that have ended,
 * and ends their programs. Folders of other running servers are not touched.
 */
export async function openServerFolder(root: string): Promise<string> {
  for (const name of await readdir(root).catch(() => [])) {
    const [, pid, start] = /^(\d+)-(\d*)-/.exec(name) ?? [];
    if (pid && isProcessRunning(Number(pid), start ?? '')) continue;
    const orphaned = path.join(root, name);
    await endOrphanedPrograms(orphaned);
    await rm(orphaned, { recursive: true, force: true, maxRetries: 3 });
  }
  const own = path.resolve(root, `${process.pid}-${processStartTime(process.pid)}-${randomUUID()}`);
  await mkdir(own, { recursive: true, mode: 0o700 });
  return own;
}

export async function createProgramFolder(temporaryDir: string): Promise<ProgramFolder> {
  const folder = path.resolve(temporaryDir, FOLDER, `${process.pid}-${randomUUID()}`);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  return {
    path: folder,
    recordProcess(pid) {
      const record: ProcessRecord = { server: process.pid, serverStart: processStartTime(process.pid), pid };
      writeFileSync(path.join(folder, RECORD_FILE), JSON.stringify(record));
    },
    remove: () => rm(folder, { recursive: true, force: true, maxRetries: 3 }),
  };
}

/** Ends the programs of servers that have ended, including their process groups, and removes their folders. */
export async function endOrphanedPrograms(temporaryDir: string): Promise<void> {
  const root = path.resolve(temporaryDir, FOLDER);
  for (const name of await readdir(root).catch(() => [])) {
    const folder = path.join(root, name);
    const record = readRecord(folder);
    const server = record?.server ?? Number.parseInt(name, 10);
    if (isProcessRunning(server, record?.serverStart ?? processStartTime(server))) continue;
    // The system may have reused the process id.
    if (record && worksIn(record.pid, folder)) killGroup(record.pid);
    await removeOfficePipe(folder);
    await rm(folder, { recursive: true, force: true, maxRetries: 3 });
  }
}

/** Options that start a process so that `killGroup` ends it and all processes that it starts. */
export const OWN_GROUP = { detached: process.platform !== 'win32', windowsHide: true } as const;

/** Kills the process group led by this process. Windows has none, so it is asked for the descendants of the process. */
export function killGroup(pid: number): void {
  if (process.platform === 'win32') {
    const options = { env: childEnvironment(), stdio: 'ignore', windowsHide: true } as const;
    spawn('taskkill', ['/pid', String(pid), '/t', '/f'], options).on('error', () => {});
    return;
  }
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // The process has already ended.
  }
}

function readRecord(folder: string): ProcessRecord | undefined {
  try {
    return JSON.parse(readFileSync(path.join(folder, RECORD_FILE), 'utf8'));
  } catch {
    return undefined;
  }
}

function worksIn(pid: number, folder: string): boolean {
  try {
    const isNamed = readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(path.basename(folder));
    return isNamed || readlinkSync(`/proc/${pid}/cwd`) === realpathSync(folder);
  } catch {
    return false;
  }
}
