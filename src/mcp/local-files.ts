/** Reads local files for clients on this machine, only within the folders that the user allowed. */
import { constants } from 'node:fs';
import { open, realpath } from 'node:fs/promises';
import path from 'node:path';
import { ToolError } from './failures.ts';

export interface LocalFile {
  readonly name: string;
  readonly bytes: Uint8Array;
}

export interface LocalFiles {
  /** The allowed folders, for error messages. */
  readonly folders: readonly string[];
  /** Rejects with a ToolError if the path is outside the folders, not a file, or too large. */
  read(file: string, signal: AbortSignal): Promise<LocalFile>;
}

const MAX_BYTES = 100_000_000;
/** Does not block on a pipe without a writer, and refuses a symbolic link created after the check. */
const OPEN_FLAGS = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0) | (constants.O_NOFOLLOW ?? 0);

/** Opens the folders. Rejects if one does not exist. */
export async function openLocalFiles(folders: readonly string[]): Promise<LocalFiles> {
  const real = await Promise.all(folders.map((folder) => realpath(folder)));
  return {
    folders: real,
    async read(file, signal) {
      const outside = new ToolError(`path: ${file} is not a file within ${real.join(', ')}`);
      // Resolves symbolic links before the check, so that none leads outside.
      const found = await realpath(path.resolve(real[0] ?? '.', file)).catch(() => undefined);
      if (found === undefined || !real.some((folder) => isWithin(found, folder))) throw outside;
      const handle = await open(found, OPEN_FLAGS).catch((error: NodeJS.ErrnoException) => {
        throw new ToolError(`path: ${file} cannot be read (${error.code})`);
      });
      try {
        const facts = await handle.stat();
        if (!facts.isFile()) throw outside;
        if (facts.size > MAX_BYTES) throw new ToolError(`path: ${file} is larger than ${MAX_BYTES / 1e6} MB`);
        signal.throwIfAborted();
        return { name: path.basename(found), bytes: await handle.readFile() };
      } finally {
        await handle.close();
      }
    },
  };
}

function isWithin(file: string, folder: string): boolean {
  const relative = path.relative(folder, file);
  return relative !== '' && relative !== '..' && !relative.startsWith(`..${path.sep}`) && !path.isAbsolute(relative);
}
