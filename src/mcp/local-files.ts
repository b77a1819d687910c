/** Files of this machine, for a client that runs here too: only within folders that its person has named. */
import { constants } from 'node:fs';
import { open, realpath } from 'node:fs/promises';
import path from 'node:path';
import { ToolError } from './failures.ts';

export interface LocalFile {
  readonly name: string;
  readonly bytes: Uint8Array;
}

export interface LocalFiles {
  /** The folders, for a refusal to name. */
  readonly folders: readonly string[];
  /** Rejects with a ToolError when it is outside of the folders, no file, or too large. */
  read(file: string, signal: AbortSignal): Promise<LocalFile>;
}

const MAX_BYTES = 100_000_000;
/** A pipe is opened without waiting for who writes to it, and links that have come since are not followed. */
const OPEN_FLAGS = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0) | (constants.O_NOFOLLOW ?? 0);

/** `folders` are given as a person writes them; one that is not there is an error. */
export async function openLocalFiles(folders: readonly string[]): Promise<LocalFiles> {
  const real = await Promise.all(folders.map((folder) => realpath(folder)));
  return {
    folders: real,
    async read(file, signal) {
      const outside = new ToolError(`path: ${file} is not a file within ${real.join(', ')}`);
      // Links are followed first, so that none leads out.
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
  const way = path.relative(folder, file);
  return way !== '' && way !== '..' && !way.startsWith(`..${path.sep}`) && !path.isAbsolute(way);
}
