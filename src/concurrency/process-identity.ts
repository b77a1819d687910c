/** Identifies a process by its id and start time, because the system reuses process ids. */
import { readFileSync } from 'node:fs';

/**
 * Returns the start time of a process: field 22 of proc_pid_stat(5). Returns '' if there is no such process, and on
 * systems other than Linux.
 */
export function processStartTime(pid: number): string {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return text.slice(text.lastIndexOf(')') + 2).split(' ')[19] ?? '';
  } catch {
    return '';
  }
}

/** Whether the process with this id and start time is still running. */
export function isProcessRunning(pid: number, start: string): boolean {
  try {
    process.kill(pid, 0);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EPERM') return false;
  }
  return processStartTime(pid) === start;
}
