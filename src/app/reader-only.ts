/**
 * The reader's door and nothing beside it, for a command that reads and ends: what it does not ask is neither built nor
 * loaded.
 */

import { errorBody, writeReaderError } from '#api/envelopes/reader.ts';
import { READER_PATHS, readerRoutes } from '#api/reader/reader.ts';
import { createTracing } from '#api/trace.ts';
import { createServer, type Face } from '#http/server.ts';
import { createIndexingReader } from '#search/index.ts';
import { type FoundationOptions, openFoundation } from './foundation.ts';
import { indexOnDemand } from './index-on-demand.ts';
import { openReading } from './reading.ts';
import { Started } from './started.ts';

export interface ReaderOnly {
  readonly face: Face;
  /** Ends everything that was started. */
  close(): Promise<void>;
}

/** What was started before a part failed to is ended again. */
export async function createReaderOnly(options: FoundationOptions): Promise<ReaderOnly> {
  const started = new Started();
  try {
    const face = await build(options, started);
    return { face, close: () => face.close().then(() => started.endAll(options.log)) };
  } catch (error) {
    await started.endAll(options.log);
    throw error;
  }
}

async function build({ config, version, log, lookup }: FoundationOptions, started: Started): Promise<Face> {
  const foundation = await openFoundation({ config, version, log, lookup }, started);
  const { gatekeeper, network, pictures, temporaryDir, observe } = foundation;
  const readingParts = { ...foundation, version, log, onCacheRead: observe.onCacheRead };
  const { reader } = await openReading(config, readingParts, started);
  const { indexMaxBytes, indexShared, cacheNoStore, maxBodyBytes, allowNetworks, publicUrl, userAgent } = config;
  const remembering =
    indexMaxBytes > 0
      ? createIndexingReader(reader, {
          index: started.keep(indexOnDemand(config, foundation, log)),
          keepsNoStore: cacheNoStore === 'ignore',
          shared: indexShared,
          log,
        })
      : reader;
  const tracing = createTracing({ gatekeeper, spanExport: network.spanExport });
  const face = await createServer({
    name: 'reader',
    log,
    temporaryDir,
    maxBodyBytes,
    writeError: writeReaderError,
    malformedBody: errorBody,
    paths: new Set(READER_PATHS),
    observe: tracing.observer,
    isInside: true,
  });
  readerRoutes(face, {
    reader: remembering,
    gatekeeper,
    tracing,
    guardsNetworks: allowNetworks.length > 0,
    ownNames: network.ownNames,
    pictures,
    index: { usage1: '', usage2: '', homepage: '' },
    publicUrl,
    userAgent,
  });
  await face.ready();
  return face;
}
