/** What a filling has done so far, a line each, so that one that was ended goes on where it was. */
import { appendFile, mkdir, readFile, rm } from 'node:fs/promises';
import path from 'node:path';

export interface Done {
  readonly url: string;
  /** Addresses that were found there and are still to be read. */
  readonly found?: readonly string[];
}

export interface Journal {
  /** What was done before. */
  readonly before: readonly Done[];
  note(done: Done): Promise<void>;
  /** After the last one. */
  remove(): Promise<void>;
}

export async function openJournal(file: string): Promise<Journal> {
  const before: Done[] = [];
  for (const line of (await readFile(file, 'utf8').catch(() => '')).split('\n')) {
    // The last line may have been cut off.
    try {
      if (line) before.push(JSON.parse(line) as Done);
    } catch {}
  }
  await mkdir(path.dirname(file), { recursive: true, mode: 0o700 });
  // What is cut off there must not be joined with what comes now.
  let separator = before.length > 0 ? '\n' : '';
  let turn: Promise<void> = Promise.resolve();
  return {
    before,
    note(done) {
      turn = turn.then(() => {
        const line = `${separator}${JSON.stringify(done)}\n`;
        separator = '';
        return appendFile(file, line, { mode: 0o600 });
      });
      return turn;
    },
    remove: () => rm(file, { force: true }),
  };
}
