/** Loads the block list from a file, and reloads it whenever the file is changed or replaced. */
import { type Stats, unwatchFile, watchFile } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { type BlockEntry, type BlockList, parseBlockList } from './block-list.ts';

export interface BlockListLog {
  info(facts: object, message: string): void;
  warn(facts: object, message: string): void;
}

export interface BlockListFile extends Pick<BlockList, 'find' | 'findHost'> {
  /** Stops watching the file. */
  close(): Promise<void>;
}

/**
 * How often the file is checked, in milliseconds. The check uses the path, so that a replacement of the file is also
 * noticed.
 */
const CHECK_MS = 500;
const MAX_FAULTS_LOGGED = 100;

/**
 * Throws if the file cannot be read at startup. Later, the current list stays in use until the file can be read again.
 */
export async function openBlockListFile(file: string, log: BlockListLog): Promise<BlockListFile> {
  let list = await load(file, log);
  let reading: Promise<void> = Promise.resolve();
  const reload = () => {
    reading = reading.then(async () => {
      try {
        list = await load(file, log);
      } catch (error) {
        log.warn(
          { code: (error as NodeJS.ErrnoException).code },
          'the list of blocked URLs cannot be read; the old list stays in use',
        );
      }
    });
  };
  const onChange = (_now: Stats, _before: Stats) => reload();
  watchFile(file, { interval: CHECK_MS, persistent: false }, onChange);
  const logged = (entry: BlockEntry | undefined) => {
    if (entry) log.info({ line: entry.line, entry: entry.text }, 'refused by the list of blocked URLs');
    return entry;
  };
  return {
    find: (url) => logged(list.find(url)),
    findHost: (hostname, port) => logged(list.findHost(hostname, port)),
    async close() {
      unwatchFile(file, onChange);
      await reading;
    },
  };
}

async function load(file: string, log: BlockListLog): Promise<BlockList> {
  const bytes = await readFile(file);
  const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  if (text.includes('\0')) throw new Error('the file is not text');
  const { list, faults } = parseBlockList(text);
  for (const { line, reason } of faults.slice(0, MAX_FAULTS_LOGGED)) {
    log.warn({ line }, `line ${line} of the list of blocked URLs is ignored: it ${reason}`);
  }
  if (faults.length > MAX_FAULTS_LOGGED) {
    log.warn({ lines: faults.length }, `${faults.length} lines of the list of blocked URLs are ignored`);
  }
  log.info({ entries: list.size }, 'list of blocked URLs read');
  return list;
}
