/**
 * Watches files for changes by comparing their state once a second: unlike notifications, this also sees files on
 * network drives, in containers, and behind links that are replaced.
 */
import { stat } from 'node:fs/promises';

export interface FileWatcher {
  close(): void;
}

const INTERVAL_MS = 1000;

/** Describes the content of a file; `undefined` while it does not exist. */
async function stateOf(file: string): Promise<string | undefined> {
  try {
    const { mtimeNs, size, ino } = await stat(file, { bigint: true });
    return `${mtimeNs} ${size} ${ino}`;
  } catch {
    return undefined;
  }
}

/**
 * Calls `onChange` with the files that have changed, and waits for it. `files` is called each time; the first state of
 * a file counts as unchanged. A missing file counts as changed once it exists again.
 */
export async function watchFiles(
  files: () => Iterable<string>,
  onChange: (changed: readonly string[]) => Promise<void>,
  intervalMs = INTERVAL_MS,
): Promise<FileWatcher> {
  const known = new Map<string, string>();
  let timer: NodeJS.Timeout | undefined;
  let isClosed = false;

  async function findChanged(): Promise<string[]> {
    const changed: string[] = [];
    for (const file of new Set(files())) {
      const [before, state] = [known.get(file), await stateOf(file)];
      if (state === undefined || state === before) continue;
      known.set(file, state);
      if (before !== undefined) changed.push(file);
    }
    return changed;
  }

  async function look(): Promise<void> {
    const changed = await findChanged();
    if (changed.length > 0 && !isClosed) await onChange(changed);
    schedule();
  }

  function schedule(): void {
    if (!isClosed) timer = setTimeout(() => void look(), intervalMs).unref();
  }

  await findChanged();
  schedule();
  return {
    close() {
      isClosed = true;
      clearTimeout(timer);
    },
  };
}
