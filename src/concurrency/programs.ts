/**
 * Other programs that work for us, each in a process group and a folder of its own. A server that is killed cannot end
 * them: what they leave in their folders tells the next start which processes are to be ended.
 */
import { randomUUID } from 'node:crypto';
import { readFileSync, readlinkSync, realpathSync, writeFileSync } from 'node:fs';
import { mkdir, readdir, rm } from 'node:fs/promises';
import path from 'node:path';
import { removeOfficePipe } from './office-pipe.ts';
import { isAlive, startOf } from './owner.ts';

export interface ProgramFolder {
  readonly path: string;
  /** Writes down which process works here: one whose command line names the folder, or that was started in it. */
  remember(pid: number): void;
  remove(): Promise<void>;
}

interface Trace {
  readonly server: number;
  readonly serverStart: string;
  readonly pid: number;
}

const FOLDER = 'programs';
const TRACE = 'job.json';

/**
 * A folder of this server's own under `root`, for all that does not outlive it. Those of servers that are gone are taken
 * away, with the programs that still work in them; those of servers that run beside this one are left alone.
 */
export async function openServerFolder(root: string): Promise<string> {
  for (const name of await readdir(root).catch(() => [])) {
    const [, pid, start] = /^(\d+)-(\d*)-/.exec(name) ?? [];
    if (pid && isAlive(Number(pid), start ?? '')) continue;
    const left = path.join(root, name);
    await endLeftPrograms(left);
    await rm(left, { recursive: true, force: true, maxRetries: 3 });
  }
  const own = path.resolve(root, `${process.pid}-${startOf(process.pid)}-${randomUUID()}`);
  await mkdir(own, { recursive: true, mode: 0o700 });
  return own;
}

export async function createProgramFolder(temporaryDir: string): Promise<ProgramFolder> {
  const folder = path.resolve(temporaryDir, FOLDER, `${process.pid}-${randomUUID()}`);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  return {
    path: folder,
    remember(pid) {
      const trace: Trace = { server: process.pid, serverStart: startOf(process.pid), pid };
      writeFileSync(path.join(folder, TRACE), JSON.stringify(trace));
    },
    remove: () => rm(folder, { recursive: true, force: true, maxRetries: 3 }),
  };
}

/** Ends programs whose server is gone, with all that they started, and takes their folders away. */
export async function endLeftPrograms(temporaryDir: string): Promise<void> {
  const root = path.resolve(temporaryDir, FOLDER);
  for (const name of await readdir(root).catch(() => [])) {
    const folder = path.join(root, name);
    const trace = traceOf(folder);
    const start = startOf(trace?.server ?? Number.parseInt(name, 10));
    if (start !== '' && (!trace || start === trace.serverStart)) continue;
    // The number may be another process by now.
    if (trace && worksIn(trace.pid, folder)) killGroup(trace.pid);
    await removeOfficePipe(folder);
    await rm(folder, { recursive: true, force: true, maxRetries: 3 });
  }
}

/** Ends a process that leads a group, with the group. */
export function killGroup(pid: number): void {
  try {
    process.kill(process.platform === 'win32' ? pid : -pid, 'SIGKILL');
  } catch {
    // It had ended.
  }
}

function traceOf(folder: string): Trace | undefined {
  try {
    return JSON.parse(readFileSync(path.join(folder, TRACE), 'utf8'));
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
