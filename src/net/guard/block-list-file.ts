/** Loads the block list from a file, and reloads it whenever the file is changed or replaced. */
import { type BlockEntry, type BlockList, parseBlockList } from './block-list.ts';
import { openWatchedFile } from './watched-file.ts';

export interface BlockListLog {
  info(facts: object, message: string): void;
  warn(facts: object, message: string): void;
}

export interface BlockListFile extends Pick<BlockList, 'find' | 'findHost'> {
  /** Stops watching the file. */
  close(): Promise<void>;
}

const MAX_FAULTS_LOGGED = 100;

/**
 * Throws if the file cannot be read at startup. Later, the current list stays in use until the file can be read again.
 */
export async function openBlockListFile(file: string, log: BlockListLog): Promise<BlockListFile> {
  const watched = await openWatchedFile(
    file,
    (text) => parse(text, log),
    (error) =>
      log.warn(
        { code: (error as NodeJS.ErrnoException).code },
        'the list of blocked URLs cannot be read; the old list stays in use',
      ),
  );
  const logged = (entry: BlockEntry | undefined) => {
    if (entry) log.info({ line: entry.line, entry: entry.text }, 'refused by the list of blocked URLs');
    return entry;
  };
  return {
    find: (url) => logged(watched.current().find(url)),
    findHost: (hostname, port) => logged(watched.current().findHost(hostname, port)),
    close: watched.close,
  };
}

function parse(text: string, log: BlockListLog): BlockList {
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
