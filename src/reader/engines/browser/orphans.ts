/**
 * Ends browsers that outlived their server. Each launch writes a file with the PIDs of the server and the browser. At
 * the next start, browsers without a running server are ended, and their temporary profiles are removed.
 */
import { execFile } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { childEnvironment } from '#concurrency/environment.ts';

const run = promisify(execFile);

export interface LaunchRecord {
  /** A folder used only by this launch; `forget` removes it. */
  readonly folder: string;
  /** Records the launched process. `profile` is the browser's temporary profile folder. */
  remember(pid: number, profile: string | undefined): void;
  forget(): void;
}

interface Launch {
  readonly server: number;
  readonly serverStart: string;
  readonly pid: number;
  readonly profile?: string | undefined;
}

const runs = (dataDir: string) => path.resolve(dataDir, 'browser', 'runs');

let launches = 0;

export function recordLaunch(dataDir: string): LaunchRecord {
  const folder = path.join(runs(dataDir), `${process.pid}-${++launches}`);
  mkdirSync(folder, { recursive: true });
  return {
    folder,
    remember(pid, profile) {
      const launch: Launch = { server: process.pid, serverStart: startOf(process.pid), pid, profile };
      writeFileSync(path.join(folder, 'launch.json'), JSON.stringify(launch));
    },
    forget: () => rmSync(folder, { recursive: true, force: true }),
  };
}

/** Ends the browsers of earlier servers; returns their number. */
export async function killOrphans(dataDir: string): Promise<number> {
  let ended = 0;
  for (const name of list(runs(dataDir))) {
    const folder = path.join(runs(dataDir), name);
    const launch = readLaunch(folder);
    const server = launch?.server ?? Number.parseInt(name, 10);
    if (
      server === process.pid
        ? launches > 0
        : isAlive(server) && startOf(server) === (launch?.serverStart ?? startOf(server))
    )
      continue;
    if (launch) {
      // The PID may have been reused: end the process only if it was started with that profile.
      const ours = launch.profile && (await commandOf(launch.pid)).includes(launch.profile);
      if (ours && killProcessGroup(launch.pid)) ended++;
      removeProfile(launch.profile);
    }
    rmSync(folder, { recursive: true, force: true });
  }
  return ended;
}

/** Removes a profile created by Playwright; refuses any other path that the file may contain. */
export function removeProfile(profile: string | undefined): void {
  if (profile && /^playwright_chromiumdev_profile-\w+$/.test(path.basename(profile)))
    rmSync(profile, { recursive: true, force: true, maxRetries: 3 });
}

/** Kills a process group led by a browser; returns false if there was none. */
export function killProcessGroup(pid: number): boolean {
  try {
    process.kill(process.platform === 'win32' ? pid : -pid, 'SIGKILL');
    return true;
  } catch {
    return false;
  }
}

/** The command line of a process; empty if there is none. */
export async function commandOf(pid: number): Promise<string> {
  if (process.platform === 'linux') {
    try {
      return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ');
    } catch {
      return '';
    }
  }
  if (process.platform === 'win32') return '';
  return run('ps', ['-o', 'command=', '-p', String(pid)], { env: childEnvironment() }).then(
    ({ stdout }) => stdout,
    () => '',
  );
}

/** Resident memory of a process in bytes; 0 on systems without /proc. */
export function residentBytes(pid: number): number {
  try {
    return Number(readFileSync(`/proc/${pid}/statm`, 'utf8').split(' ')[1]) * 4096;
  } catch {
    return 0;
  }
}

function readLaunch(folder: string): Launch | undefined {
  try {
    return JSON.parse(readFileSync(path.join(folder, 'launch.json'), 'utf8'));
  } catch {
    return undefined;
  }
}

/** Fields of proc_pid_stat(5) from the third on. The second field, in brackets, may contain anything. */
function statOf(pid: number): string[] {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  } catch {
    return [];
  }
}

/** Start time of a process, which distinguishes processes with a reused PID. Empty on systems without /proc. */
const startOf = (pid: number): string => statOf(pid)[19] ?? '';

function isAlive(pid: number): boolean {
  // A zombie process still has its PID.
  if (statOf(pid)[0] === 'Z') return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

function list(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}
