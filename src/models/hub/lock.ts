/** A lock that processes share by a file: its holder touches it as long as it lives, so that the lock of a dead one is seen. */
import { open, readFile, rm, stat, utimes } from 'node:fs/promises';
import { setTimeout as wait } from 'node:timers/promises';

const TOUCH_MS = 2_000;
const POLL_MS = 200;

/**
 * Runs the work while nobody else holds the file. A lock that was not touched for `staleMs` counts as left behind. Throws
 * the signal's reason while it waits.
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
    // Whoever took it for left behind has it now.
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
