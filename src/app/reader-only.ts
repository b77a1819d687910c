/**
 * Only the reader, with or without its API, for a command that reads and exits. Components that it does not need are
 * neither created nor loaded.
 */
import { errorBody, writeReaderError } from '#api/envelopes/reader.ts';
import { READER_PATHS, readerRoutes } from '#api/reader/reader.ts';
import { createTracing } from '#api/trace.ts';
import { createServer, type Face } from '#http/server.ts';
import type { Reader } from '#reader/index.ts';
import { CloseStack } from './close-stack.ts';
import { type FoundationOptions, openFoundation } from './foundation.ts';
import { createIndexOnDemand } from './index-on-demand.ts';
import { openReaderModule } from './reader-module.ts';

export interface ReaderOnly {
  readonly face: Face;
  /** Closes all components. */
  close(): Promise<void>;
}

/** Creates the reader and its API. If one component fails to start, those that were started before it are closed. */
export async function createReaderOnly(options: FoundationOptions): Promise<ReaderOnly> {
  const { built: face, closeAll } = await closedOnFailure(options, (resources) => buildFace(options, resources));
  return { face, close: () => face.close().then(closeAll) };
}

/** Creates the reader without an API; what it reads is not added to the index. */
export async function createPlainReader(
  options: FoundationOptions,
): Promise<{ readonly reader: Reader; close(): Promise<void> }> {
  const { built, closeAll } = await closedOnFailure(options, (resources) => buildReader(options, resources));
  return { reader: built.reader, close: closeAll };
}

async function closedOnFailure<Built>(
  { log }: FoundationOptions,
  build: (resources: CloseStack) => Promise<Built>,
): Promise<{ readonly built: Built; closeAll(): Promise<void> }> {
  const resources = new CloseStack();
  const closeAll = () => resources.closeAll(log);
  try {
    return { built: await build(resources), closeAll };
  } catch (error) {
    await closeAll();
    throw error;
  }
}

async function buildReader({ config, version, log, lookup }: FoundationOptions, resources: CloseStack) {
  const foundation = await openFoundation({ config, version, log, lookup }, resources);
  const { observe } = foundation;
  const readerParts = { ...foundation, version, log, onCacheRead: observe.onCacheRead, onBlocked: observe.onBlocked };
  const { reader } = await openReaderModule(config, readerParts, resources);
  return { foundation, reader };
}

async function buildFace(options: FoundationOptions, resources: CloseStack): Promise<Face> {
  const { config, log } = options;
  const { foundation, reader } = await buildReader(options, resources);
  const { accessHooks, network, pictures, temporaryDir } = foundation;
  const { indexMaxBytes, indexShared, cacheNoStore, maxBodyBytes, allowNetworks, publicUrl, userAgent } = config;
  const remembering =
    indexMaxBytes > 0
      ? withIndex(reader, async () => {
          const { createIndexingReader } = await import('#search/index.ts');
          return createIndexingReader(reader, {
            index: resources.use(createIndexOnDemand(config, foundation, log)),
            keepsNoStore: cacheNoStore === 'ignore',
            shared: indexShared,
            log,
          });
        })
      : reader;
  const tracing = createTracing({ accessHooks, spanExport: network.spanExport });
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
    accessHooks,
    tracing,
    refusesCrossSite: allowNetworks.length > 0,
    ownNames: network.ownNames,
    pictures,
    index: { usage1: '', usage2: '', homepage: '' },
    publicUrl,
    userAgent,
    describesImages: foundation.models.vision !== undefined,
  });
  await face.ready();
  return face;
}

/** Adds pages to the index. Its module is loaded for the first URL: what came with the request is never added. */
function withIndex(reader: Reader, open: () => Promise<Reader>): Reader {
  let opened: Promise<Reader> | undefined;
  const readerFor = async ({ target }: Parameters<Reader['last']>[0]): Promise<Reader> => {
    if (target.given || target.upload) return reader;
    opened ??= open();
    return opened;
  };
  return {
    async *each(request) {
      yield* (await readerFor(request)).each(request);
    },
    last: async (request) => (await readerFor(request)).last(request),
  };
}
