/**
 * Watches the memory of browser processes and kills those that use too much. Linux only: other systems do not report
 * it. Killing a renderer costs one page; if the other processes grow, the whole browser is killed.
 */
import { execFile } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { childEnvironment } from '#concurrency/environment.ts';
import { killProcessGroup, residentBytes } from './orphans.ts';

export interface MemoryLimits {
  /** Maximum memory of one renderer, in bytes. */
  readonly rendererBytes: number;
  /** Maximum total memory of the browser's other processes (main, network, GPU), in bytes. */
  readonly otherBytes: number;
}

export interface MemoryWatch {
  /** Checks once, and kills processes above their limit. */
  check(): void;
}

type Log = (message: string, facts: Record<string, unknown>) => void;

export function watchMemory(root: number, { rendererBytes, otherBytes }: MemoryLimits, log: Log): MemoryWatch {
  /** The zygotes start the other processes. They live as long as the browser. */
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
          kill(pid);
        }
      }
      for (const pid of renderers.keys()) if (!seen.has(pid)) renderers.delete(pid);
      if (others <= otherBytes) return;
      log('the browser took too much memory', { pid: root, bytes: others });
      killProcessGroup(root);
    },
  };
}

/** Memory that a renderer maps as writable but mostly never uses: thread stacks and V8 reservations. */
const UNTOUCHED_BYTES = 1024 ** 3;

/**
 * Sets a kernel limit for the memory of renderers, since a page can allocate 1 GB between two checks. Only the program
 * prlimit can set limits for other processes; without it, only the checks apply. Shared memory is not counted.
 */
export async function limitRenderers(root: number, rendererBytes: number): Promise<void> {
  if (process.platform !== 'linux') return;
  const limit = `--data=${rendererBytes + UNTOUCHED_BYTES}`;
  // The other zygote starts the network and GPU processes.
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

/** The processes and all their descendants. */
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
    // The process has ended, or the system does not report children.
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

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // The process has ended in the meantime.
  }
}
