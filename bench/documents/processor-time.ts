/** The processor time of this process and of the processes that it started and that have ended. */
import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

/** Linux counts in hundredths of a second. */
const TICKS_PER_SECOND = 100;
/** Positions in `/proc/<pid>/stat`, counted after the name: utime, stime, cutime, cstime. */
const FIRST_TIME = 11;
const LAST_TIME = 15;

const statOf = (pid: string): string[] => {
  const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
  return text.slice(text.lastIndexOf(')') + 2).split(' ');
};

/** Seconds of processor time so far. Child processes are counted once they have ended. */
export const processorSeconds = (): number =>
  statOf('self')
    .slice(FIRST_TIME, LAST_TIME)
    .reduce((sum, ticks) => sum + Number(ticks), 0) / TICKS_PER_SECOND;

function childrenOf(parent: number): string[] {
  return readdirSync('/proc').filter((pid) => {
    try {
      return /^\d+$/.test(pid) && Number(statOf(pid)[1]) === parent;
    } catch {
      // The process has ended since it was listed.
      return false;
    }
  });
}

const MAX_WAIT_MS = 10_000;

/** Waits until the child processes that were not running before have ended, so that their time is counted. */
export async function untilEnded(before: readonly string[]): Promise<void> {
  const until = performance.now() + MAX_WAIT_MS;
  while (childrenOf(process.pid).some((pid) => !before.includes(pid)) && performance.now() < until) await sleep(50);
}

export const runningChildren = (): string[] => childrenOf(process.pid);
