/** Ends a child process when its parent has ended, even while a task is blocking its event loop. */
import { Worker } from 'node:worker_threads';

/**
 * Starts a thread that kills this process once its parent has ended. With `group`, kills the whole process group, which
 * this process must lead.
 */
export function endWithParent({ group = false }: { readonly group?: boolean } = {}): void {
  const target = group && process.platform !== 'win32' ? '-process.pid' : 'process.pid';
  // On Windows, a process keeps the id of its parent when the parent has ended.
  const watch = `
const parent = ${process.ppid};
function hasEnded() {
  if (process.ppid !== parent) return true;
  try {
    process.kill(parent, 0);
    return false;
  } catch (error) {
    return error.code === 'ESRCH';
  }
}
setInterval(() => { if (hasEnded()) process.kill(${target}, 'SIGKILL'); }, 1000);
`;
  new Worker(watch, { eval: true, stdin: false, stdout: false, stderr: false, execArgv: [] }).unref();
}
