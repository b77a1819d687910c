/**
 * Content-addressed files: each is named after the hash of its content, so identical content is stored only once.
 * Writes are not synced to disk. Reads verify the hash, so a file damaged by a crash counts as missing.
 */
import { createHash, randomUUID } from 'node:crypto';
import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';

export interface Blobs {
  /** Writes the bytes to the file with this name, replacing an existing one. */
  put(name: string, bytes: Uint8Array): Promise<void>;
  /** Returns `undefined` if the file is missing or damaged. */
  get(name: string): Promise<Uint8Array | undefined>;
  remove(name: string): Promise<void>;
  /** Removes all other files, including partial files left behind by a crash. Yields after each folder. */
  removeAllExcept(isUsed: (name: string) => boolean): AsyncGenerator<void>;
}

/** The name of a file: the SHA-256 of its bytes, in hex. */
export const blobName = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');

/** Disk space used by a file of this size, in bytes, with blocks of 4 KiB. */
export const bytesOnDisk = (size: number): number => Math.max(1, Math.ceil(size / BLOCK_BYTES)) * BLOCK_BYTES;
const BLOCK_BYTES = 4_096;

export function createBlobs(dir: string): Blobs {
  const folderOf = (name: string) => path.join(dir, name.slice(0, 2));
  const fileOf = (name: string) => path.join(folderOf(name), name);
  return {
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
