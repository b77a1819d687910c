/** Work that other machines do: the queue of a server that sends requests, and of a worker that answers them. */

import { defaultThreads } from '#concurrency/threads.ts';
import { type Config, ConfigError, type RemoteKind } from '#config.ts';
import type { DocumentRequest } from '#documents/remote/messages.ts';
import { createRemoteDocumentsWorker } from '#documents/remote/worker.ts';
import { createModelWorker, type ModelHost, type ModelRequest } from '#models/index.ts';
import { createOcrWorker, type OcrRequest } from '#ocr/index.ts';
import type { SharedBlobs } from '#storage/blobs/open.ts';
import { openWorkQueue, type WorkQueue } from '#storage/work-queue/server.ts';
import { openWorkServer, type ServedKind, type WorkServer } from '#storage/work-queue/worker.ts';
import type { Log } from '#telemetry/log.ts';
import type { CloseStack } from './close-stack.ts';
import type { Foundation } from './foundation.ts';
import type { createObservers } from './metrics.ts';

interface QueueParts {
  readonly sharedBlobs: SharedBlobs | undefined;
  readonly observe: ReturnType<typeof createObservers>;
  readonly log: Log;
}

/** Requests of one model are run one after another, but their preparation need not wait for them. */
const EMBED_SLOTS = 4;

export function isRemote({ remoteWork }: Config, kind: RemoteKind): boolean {
  return remoteWork.includes(kind);
}

/** `undefined` if this process does all work itself. Throws ConfigError. */
export async function openConfiguredWorkQueue(
  config: Config,
  { sharedBlobs, observe, log }: QueueParts,
): Promise<WorkQueue | undefined> {
  const { remoteWork: kinds, redisUrl, remoteWorkQueue, remoteWorkWaitMs } = config;
  if (kinds.length === 0) return undefined;
  if (redisUrl === undefined) throw new ConfigError('remoteWork: needs redisUrl, because the queue is in Redis');
  return openWorkQueue({
    ...{ url: redisUrl, kinds, maxWaiting: remoteWorkQueue, maxWaitMs: remoteWorkWaitMs, log },
    // PostgreSQL stores no large requests: they live for seconds, and Redis can store them too.
    blobs: sharedBlobs?.bucket,
    onRequest: observe.onRemoteRequest,
  });
}

/** `undefined` if this worker runs jobs only. Throws ConfigError. */
export async function openWorkerQueue(
  config: Config,
  { foundation, modelHost, log }: { foundation: Foundation; modelHost: ModelHost; log: Log },
  resources: CloseStack,
): Promise<WorkServer | undefined> {
  const { redisUrl, work, drainMs } = config;
  if (!work.includes('documents') && !work.includes('ocr') && !work.includes('embed')) return undefined;
  if (redisUrl === undefined) throw new ConfigError('work: `documents`, `ocr` and `embed` need redisUrl');
  const { documents, ocr, temporaryDir, observe, sharedBlobs } = foundation;
  const server = await openWorkServer({ url: redisUrl, blobs: sharedBlobs?.bucket, log, onServed: observe.onServed });
  const { attachments } = server;
  const files = createRemoteDocumentsWorker({ documents, attachments, temporaryDir });
  resources.use(files);
  resources.defer(() => server.close(drainMs));
  const recognize = createOcrWorker(ocr);
  const run = createModelWorker(modelHost);
  const served: Record<RemoteKind, ServedKind> = {
    documents: {
      kind: 'documents',
      slots: config.documentWorkers ?? defaultThreads(),
      handler: (request, signal) => files.handle(request as DocumentRequest, signal),
    },
    ocr: {
      kind: 'ocr',
      slots: defaultThreads(),
      handler: (request, signal) => recognize(request as OcrRequest, signal),
    },
    embed: {
      kind: 'embed',
      slots: EMBED_SLOTS,
      handler: (request, signal) => run(request as ModelRequest, signal),
    },
  };
  await server.serve(Object.values(served).filter(({ kind }) => work.includes(kind as RemoteKind)));
  return server;
}
