/**
 * Bytes in files that are named by their content, so that equal ones lie there once. Nothing is synced to the disk:
 * content is held against its name when it is read, and what a crash has spoilt is not there.
 */
import { createHash, randomUUID } from 'node:crypto';
import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';

export interface Blobs {
  /** Lays bytes down under their name; those that are there already are written again. */
  put(name: string, bytes: Uint8Array): Promise<void>;
  /** The bytes, or undefined when they are not there, or not what they were. */
  get(name: string): Promise<Uint8Array | undefined>;
  remove(name: string): Promise<void>;
  /** Removes what is not to be kept, and what a crash left half written, a shelf at a time. */
  removeAllBut(kept: (name: string) => boolean): AsyncGenerator<void>;
}

/** The name of bytes: their SHA-256 in hex. */
export const blobName = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');

/** What a file of that size takes on a disk with the usual blocks, in bytes. */
export const bytesOnDisk = (size: number): number => Math.max(1, Math.ceil(size / BLOCK_BYTES)) * BLOCK_BYTES;
const BLOCK_BYTES = 4_096;

export function createBlobs(dir: string): Blobs {
  const shelfOf = (name: string) => path.join(dir, name.slice(0, 2));
  const fileOf = (name: string) => path.join(shelfOf(name), name);
  return {
    async put(name, bytes) {
      const aside = `${fileOf(name)}.${randomUUID()}.part`;
      try {
        await writeFile(aside, bytes, { mode: 0o600, flag: 'wx' }).catch(async (error: NodeJS.ErrnoException) => {
          if (error.code !== 'ENOENT') throw error;
          await mkdir(shelfOf(name), { recursive: true, mode: 0o700 });
          await writeFile(aside, bytes, { mode: 0o600, flag: 'wx' });
        });
        await rename(aside, fileOf(name));
      } catch (error) {
        await rm(aside, { force: true }).catch(() => {});
        throw error;
      }
    },
    async get(name) {
      const bytes = await readFile(fileOf(name)).catch(() => undefined);
      return bytes && blobName(bytes) === name ? bytes : undefined;
    },
    remove: (name) => rm(fileOf(name), { force: true }),
    async *removeAllBut(kept) {
      for (const shelf of await listing(dir)) {
        for (const name of await listing(path.join(dir, shelf))) {
          if (!kept(name)) await rm(path.join(dir, shelf, name), { recursive: true, force: true });
        }
        yield;
      }
    },
  };
}

const listing = (dir: string): Promise<string[]> => readdir(dir).catch(() => []);
