/**
 * Temporary folders. They are created on first use, and removed with their contents when the work that needs them ends.
 */
import { randomUUID } from 'node:crypto';
import { mkdir, rm } from 'node:fs/promises';
import path from 'node:path';

export interface TemporaryFolder {
  /** Creates the folder on the first call. All calls return the same path. */
  path(): Promise<string>;
  remove(): Promise<void>;
}

export function createTemporaryFolder(parent: string): TemporaryFolder {
  const dir = path.join(parent, randomUUID());
  let creation: Promise<unknown> | undefined;
  return {
    async path() {
      creation ??= mkdir(dir, { recursive: true, mode: 0o700 });
      await creation;
      return dir;
    },
    async remove() {
      if (!creation) return;
      await creation.catch(() => {});
      await rm(dir, { recursive: true, force: true });
    },
  };
}
