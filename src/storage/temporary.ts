/** Folders for the files of one piece of work: made when first asked for, gone with everything in them when it is over. */
import { randomUUID } from 'node:crypto';
import { mkdir, rm } from 'node:fs/promises';
import path from 'node:path';

export interface TemporaryFolder {
  /** The folder's path; the same at every call. */
  path(): Promise<string>;
  remove(): Promise<void>;
}

export function temporaryFolder(parent: string): TemporaryFolder {
  const dir = path.join(parent, randomUUID());
  let made: Promise<unknown> | undefined;
  return {
    async path() {
      made ??= mkdir(dir, { recursive: true, mode: 0o700 });
      await made;
      return dir;
    },
    async remove() {
      if (!made) return;
      await made.catch(() => {});
      await rm(dir, { recursive: true, force: true });
    },
  };
}
