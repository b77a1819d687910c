/** The local search index, and a reader that adds the pages it reads to it. */
import type { Config } from '#config.ts';
import type { Reader } from '#reader/index.ts';
import { createIndexingReader, type IndexEmbedder, type LocalIndex, startIndexOf } from '#search/index.ts';
import type { Log } from '#telemetry/log.ts';
import type { CloseStack } from './close-stack.ts';

interface IndexParts {
  readonly embedder: IndexEmbedder | undefined;
  readonly bareReader: Reader;
  readonly log: Log;
}

export interface IndexAndReader {
  readonly index: LocalIndex | undefined;
  readonly reader: Reader;
  /** Rejects if the index cannot be opened. */
  readonly opened: Promise<void>;
}

/** Begins to open the search index, if it is enabled, and creates a reader that adds the pages it reads to the index. */
export function startIndex(
  config: Config,
  { embedder, bareReader, log }: IndexParts,
  resources: CloseStack,
): IndexAndReader {
  if (config.indexMaxBytes <= 0) return { index: undefined, reader: bareReader, opened: Promise.resolve() };
  const { index, opened } = startIndexOf(config, { embedder, log });
  resources.use(index);
  if (config.indexShared !== 'all') warnAboutOldPages(index, log);
  const keepsNoStore = config.cacheNoStore === 'ignore';
  const reader = createIndexingReader(bareReader, { index, keepsNoStore, shared: config.indexShared, log });
  return { index, reader, opened };
}

/** Pages that were indexed by versions without owners are found only if all pages are shared. */
function warnAboutOldPages(index: Pick<LocalIndex, 'stats'>, log: Pick<Log, 'warn'>): void {
  index.stats().then(
    ({ onlyAll: pages }) => {
      if (pages === 0) return;
      log.warn(
        { pages },
        'some pages in the index have no owner: until they are read again, only LECTERN_INDEX_SHARED=all finds them',
      );
    },
    // A failure to open the index is reported by the next search.
    () => {},
  );
}
