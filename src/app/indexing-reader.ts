/** The local search index, and a reader that adds the pages it reads to it. */
import type { Config } from '#config.ts';
import type { Reader } from '#reader/index.ts';
import { createIndexingReader, type IndexEmbedder, type LocalIndex, openIndexOf } from '#search/index.ts';
import type { Log } from '#telemetry/log.ts';
import type { CloseStack } from './close-stack.ts';

interface IndexParts {
  readonly embedder: IndexEmbedder | undefined;
  readonly bareReader: Reader;
  readonly log: Log;
}

/** Opens the search index, if it is enabled, and a reader that adds the pages it reads to the index. */
export async function openIndex(
  config: Config,
  { embedder, bareReader, log }: IndexParts,
  resources: CloseStack,
): Promise<{ readonly index: LocalIndex | undefined; readonly reader: Reader }> {
  if (config.indexMaxBytes <= 0) return { index: undefined, reader: bareReader };
  const index = resources.use(await openIndexOf(config, { embedder, log }));
  if (config.indexShared !== 'all') warnAboutOldPages(index, log);
  const keepsNoStore = config.cacheNoStore === 'ignore';
  return { index, reader: createIndexingReader(bareReader, { index, keepsNoStore, shared: config.indexShared, log }) };
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
