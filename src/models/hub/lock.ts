/**
 * A file lock shared by processes. The holder updates the file's timestamp regularly, so that the lock of a dead
 * process is detected.
 */
import { open, readFile, rm, stat, utimes } from 'node:fs/promises';
import { setTimeout as wait } from 'node:timers/promises';

const TOUCH_MS = 2_000;
const POLL_MS = 200;

/**
 * Runs the work while holding the lock. A lock that has not been updated for `staleMs` is removed. While waiting,
 * throws the signal's reason.
 */
export async function withLock<T>(
  file: string,
  { staleMs, signal }: { staleMs: number; signal: AbortSignal },
  work: () => Promise<T>,
): Promise<T> {
  const mark = `${process.pid} ${Math.random()}`;
  while (!(await take(file, mark))) {
    signal.throwIfAborted();
    const { mtimeMs } = await stat(file).catch(() => ({ mtimeMs: Date.now() }));
    if (Date.now() - mtimeMs > staleMs) await rm(file, { force: true });
    else await wait(POLL_MS);
  }
  const touch = setInterval(() => void utimes(file, new Date(), new Date()).catch(() => {}), TOUCH_MS);
  try {
    return await work();
  } finally {
    clearInterval(touch);
    // If the lock became stale, another process may own it now.
    if ((await readFile(file, 'utf8').catch(() => '')) === mark) await rm(file, { force: true });
  }
}

async function take(file: string, mark: string): Promise<boolean> {
  try {
    const handle = await open(file, 'wx');
    await handle.writeFile(mark);
    await handle.close();
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}
