/** A journal of an indexing run, with one JSON line per processed URL, so that an interrupted run can be resumed. */
import { appendFile, mkdir, readFile, rm } from 'node:fs/promises';
import path from 'node:path';

export interface JournalEntry {
  readonly url: string;
  /** URLs found on the page. */
  readonly found?: readonly string[];
}

export interface Journal {
  /** Entries of earlier runs. */
  readonly before: readonly JournalEntry[];
  write(entry: JournalEntry): Promise<void>;
  /** Removes the journal when the run is complete. */
  remove(): Promise<void>;
}

export async function openJournal(file: string): Promise<Journal> {
  const before: JournalEntry[] = [];
  for (const line of (await readFile(file, 'utf8').catch(() => '')).split('\n')) {
    // The last line may be incomplete.
    try {
      if (line) before.push(JSON.parse(line) as JournalEntry);
    } catch {}
  }
  await mkdir(path.dirname(file), { recursive: true, mode: 0o700 });
  // Separates an incomplete last line from the next entry.
  let waiting = before.length > 0 ? '\n' : '';
  let writing: Promise<void> | undefined;
  let next: Promise<void> | undefined;

  async function append(): Promise<void> {
    await writing?.catch(() => {});
    // The pages of one batch are recorded one after the other.
    await new Promise((resolve) => setImmediate(resolve));
    const lines = waiting;
    waiting = '';
    next = undefined;
    writing = appendFile(file, lines, { mode: 0o600 });
    return writing;
  }

  return {
    before,
    // Entries that arrive during a write are written together.
    write(entry) {
      waiting += `${JSON.stringify(entry)}\n`;
      next ??= append();
      return next;
    },
    remove: () => rm(file, { force: true }),
  };
}
