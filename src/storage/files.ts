/** Files that are there whole or not at all. */
import { randomUUID } from 'node:crypto';
import { open, rename, rm } from 'node:fs/promises';

/** Writes aside, syncs, renames: a crash leaves the old file or the new one. Readable by its owner only. */
export async function writeWhole(file: string, content: string | Uint8Array): Promise<void> {
  const aside = `${file}.${randomUUID()}.part`;
  try {
    const handle = await open(aside, 'wx', 0o600);
    try {
      await handle.writeFile(content);
      await handle.sync();
    } finally {
      await handle.close();
    }
    await rename(aside, file);
  } catch (error) {
    await rm(aside, { force: true });
    throw error;
  }
}
