/** Resident memory of a process on Linux (statm of proc(5)). */
import { readFile } from 'node:fs/promises';

const PAGE_BYTES = 4096;

/** Returns 0 if there is no such process, and on systems other than Linux. */
export async function residentBytes(pid: number | undefined): Promise<number> {
  if (process.platform !== 'linux' || pid === undefined) return 0;
  const text = await readFile(`/proc/${pid}/statm`, 'utf8').catch(() => '');
  return (Number(text.split(' ')[1]) || 0) * PAGE_BYTES;
}
