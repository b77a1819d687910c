/**
 * What the processes of a browser hold, and the end of those that hold too much. Linux only: elsewhere the system does
 * not tell. A renderer is ended alone, which costs its page; when the rest of the browser grows, all of it is ended.
 */
import { execFile } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { childEnvironment } from '#concurrency/environment.ts';
import { killGroup, residentBytes } from './orphans.ts';

export interface MemoryLimits {
  /** Of one renderer. */
  readonly rendererBytes: number;
  /** Of the browser's other processes together: its main one, its network service, its drawing. */
  readonly otherBytes: number;
}

export interface MemoryWatch {
  /** Looks once, and ends what holds too much. */
  check(): void;
}

type Log = (message: string, facts: Record<string, unknown>) => void;

export function watchMemory(root: number, { rendererBytes, otherBytes }: MemoryLimits, log: Log): MemoryWatch {
  /** What starts the other processes: it is there from the start to the end. */
  const zygotes = childrenOf(root).filter((pid) => isOfType(pid, 'zygote'));
  const renderers = new Map<number, boolean>();
  return {
    check() {
      let others = residentBytes(root);
      const seen = new Set<number>();
      for (const pid of descendants(zygotes)) {
        seen.add(pid);
        const bytes = residentBytes(pid);
        const known = renderers.get(pid) ?? isOfType(pid, 'renderer');
        renderers.set(pid, known);
        if (!known) others += bytes;
        else if (bytes > rendererBytes) {
          log('a page took too much memory', { pid, bytes });
          end(pid);
        }
      }
      for (const pid of renderers.keys()) if (!seen.has(pid)) renderers.delete(pid);
      if (others <= otherBytes) return;
      log('the browser took too much memory', { pid: root, bytes: others });
      killGroup(root);
    },
  };
}

/** What a renderer maps for writing and mostly never touches: stacks of threads, and what V8 sets aside. */
const UNTOUCHED_BYTES = 1024 ** 3;

/**
 * Has the system refuse renderers more memory: a page can take a GB between two looks at it. Only a program can set the
 * limits of another process; where there is none, the looks are all there is. Shared memory is not counted.
 */
export async function limitRenderers(root: number, rendererBytes: number): Promise<void> {
  if (process.platform !== 'linux') return;
  const limit = `--data=${rendererBytes + UNTOUCHED_BYTES}`;
  // The other zygote starts the network service and what draws.
  const zygotes = childrenOf(root).filter(
    (pid) => isOfType(pid, 'zygote') && !/--no-zygote-sandbox/.test(commandLine(pid)),
  );
  await Promise.all(
    descendants(zygotes).map(
      (pid) =>
        new Promise<void>((resolve) => {
          execFile('prlimit', ['--pid', String(pid), limit], { timeout: 5_000, env: childEnvironment() }, () =>
            resolve(),
          );
        }),
    ),
  );
}

/** The processes themselves, and all that they have started. */
function descendants(pids: readonly number[]): number[] {
  const all = [...pids];
  for (let at = 0; at < all.length; at++) all.push(...childrenOf(all[at]!));
  return all;
}

/** Children of all threads of a process (proc_pid_tid_children(5)). */
function childrenOf(pid: number): number[] {
  try {
    return readdirSync(`/proc/${pid}/task`).flatMap((thread) =>
      readFileSync(`/proc/${pid}/task/${thread}/children`, 'utf8').split(' ').filter(Boolean).map(Number),
    );
  } catch {
    // It has ended, or the system does not tell.
    return [];
  }
}

function commandLine(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ');
  } catch {
    return '';
  }
}

const isOfType = (pid: number, type: string) => commandLine(pid).includes(`--type=${type} `);

function end(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It ended in the meantime.
  }
}
