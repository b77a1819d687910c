/** Whose a number of a process is: a process is told from a later one of the same number by when it started. */
import { readFileSync } from 'node:fs';

/** Field 22 of proc_pid_stat(5); '' when there is none, and where the system does not tell. */
export function startOf(pid: number): string {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return text.slice(text.lastIndexOf(')') + 2).split(' ')[19] ?? '';
  } catch {
    return '';
  }
}

/** Whether there is a process of this number that started then. */
export function isAlive(pid: number, start: string): boolean {
  try {
    process.kill(pid, 0);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EPERM') return false;
  }
  return startOf(pid) === start;
}
