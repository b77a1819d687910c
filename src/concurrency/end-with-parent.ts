/** A child process ends with the process that started it, even while a task blocks its event loop. */
import { Worker } from 'node:worker_threads';

/**
 * Starts a thread that kills this process once its parent is gone. `group` kills the whole process group, which needs a
 * process that leads one.
 */
export function endWithParent({ group = false }: { readonly group?: boolean } = {}): void {
  const target = group && process.platform !== 'win32' ? '-process.pid' : 'process.pid';
  const watch = `
const parent = ${process.ppid};
setInterval(() => { if (process.ppid !== parent) process.kill(${target}, 'SIGKILL'); }, 1000);
`;
  new Worker(watch, { eval: true, stdin: false, stdout: false, stderr: false, execArgv: [] }).unref();
}
