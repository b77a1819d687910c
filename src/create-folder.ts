/** Creates folders where Node's recursive `mkdir` would not return. */
import { existsSync, statSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import path from 'node:path';

/**
 * Creates a folder with its missing parents, one by one. Node's recursive `mkdir` never returns in file systems that
 * call a folder missing although it exists, such as /proc.
 *
 * Throws the error of the operating system, such as ENOENT, EACCES or EROFS; EEXIST if there is a file with this name.
 */
export async function createFolder(folder: string, mode = 0o777): Promise<void> {
  const missing = [path.resolve(folder)];
  for (let parent = path.dirname(missing[0]!); !existsSync(parent); parent = path.dirname(parent)) missing.push(parent);
  for (const one of missing.reverse()) {
    await mkdir(one, { mode }).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST' || !statSync(one, { throwIfNoEntry: false })?.isDirectory()) throw error;
    });
  }
}
