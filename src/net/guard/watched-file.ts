/** Reads a list from a text file, and reads it again whenever the file is changed or replaced. */
import { type Stats, unwatchFile, watchFile } from 'node:fs';
import { readFile } from 'node:fs/promises';

export interface WatchedFile<T> {
  /** What was made of the file the last time it could be read. */
  current(): T;
  /** Stops watching the file. */
  close(): Promise<void>;
}

/**
 * How often the file is checked, in milliseconds. The check uses the path, so that a replacement of the file is also
 * noticed.
 */
const CHECK_MS = 500;

/**
 * Throws if the file cannot be read as text at the start. Later, the current value stays in use until it can be read
 * again, and `onUnreadable` is called with the reason.
 */
export async function openWatchedFile<T>(
  file: string,
  parse: (text: string) => T,
  onUnreadable: (error: unknown) => void,
): Promise<WatchedFile<T>> {
  let value = parse(await readText(file));
  let reading: Promise<void> = Promise.resolve();
  const onChange = (_now: Stats, _before: Stats) => {
    reading = reading.then(async () => {
      try {
        value = parse(await readText(file));
      } catch (error) {
        onUnreadable(error);
      }
    });
  };
  watchFile(file, { interval: CHECK_MS, persistent: false }, onChange);
  return {
    current: () => value,
    async close() {
      unwatchFile(file, onChange);
      await reading;
    },
  };
}

async function readText(file: string): Promise<string> {
  const text = new TextDecoder('utf-8', { fatal: true }).decode(await readFile(file));
  if (text.includes('\0')) throw new Error('the file is not text');
  return text;
}
