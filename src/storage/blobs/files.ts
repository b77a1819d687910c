/** Blobs as files of a folder. Writes are not synced to disk: a file damaged by a crash counts as missing. */
import { randomUUID } from 'node:crypto';
import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { type Blobs, blobName } from './blobs.ts';

export interface FileBlobs extends Blobs {
  /** Removes all other files, including partial files left behind by a crash. Yields after each folder. */
  removeAllExcept(isUsed: (name: string) => boolean): AsyncGenerator<void>;
}

/** Disk space used by a file of this size, in bytes, with blocks of 4 KiB. */
export const bytesOnDisk = (size: number): number => Math.max(1, Math.ceil(size / BLOCK_BYTES)) * BLOCK_BYTES;
const BLOCK_BYTES = 4_096;

export function createFileBlobs(dir: string): FileBlobs {
  const folderOf = (name: string) => path.join(dir, name.slice(0, 2));
  const fileOf = (name: string) => path.join(folderOf(name), name);
  return {
    maxBytes: Number.POSITIVE_INFINITY,
    async put(name, bytes) {
      const temporary = `${fileOf(name)}.${randomUUID()}.part`;
      try {
        await writeFile(temporary, bytes, { mode: 0o600, flag: 'wx' }).catch(async (error: NodeJS.ErrnoException) => {
          if (error.code !== 'ENOENT') throw error;
          await mkdir(folderOf(name), { recursive: true, mode: 0o700 });
          await writeFile(temporary, bytes, { mode: 0o600, flag: 'wx' });
        });
        await rename(temporary, fileOf(name));
      } catch (error) {
        await rm(temporary, { force: true }).catch(() => {});
        throw error;
      }
    },
    async get(name) {
      const bytes = await readFile(fileOf(name)).catch(() => undefined);
      return bytes && blobName(bytes) === name ? bytes : undefined;
    },
    remove: (name) => rm(fileOf(name), { force: true }),
    async *removeAllExcept(isUsed) {
      for (const folder of await list(dir)) {
        for (const name of await list(path.join(dir, folder))) {
          if (!isUsed(name)) await rm(path.join(dir, folder, name), { recursive: true, force: true });
        }
        yield;
      }
    },
  };
}

const list = (dir: string): Promise<string[]> => readdir(dir).catch(() => []);
