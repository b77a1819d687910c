/** Sets up the embedding models and rerankers from the configuration: catalogue, backends and shared memory. */
import { type Config, ConfigError } from '#config.ts';
import type { TrustedFetch } from '#net/trusted.ts';
import type { Log } from '#telemetry/log.ts';
import { createHub } from '../hub/hub.ts';
import { createMediaReader, type MediaReaderOptions } from '../media/reader.ts';
import { createTranscribe } from '../media/transcript.ts';
import { createOnnxEmbedder, createOnnxReranker, type OnnxOptions } from '../onnx/backends.ts';
import { createRemoteEmbedder } from '../remote/embedder.ts';
import { createRemoteReranker } from '../remote/reranker.ts';
import type { RemoteTools } from '../remote/server.ts';
import { createStaticBackends } from '../static/backends.ts';
import {
  createWorkerAvailability,
  createWorkerEmbedder,
  createWorkerReranker,
  type ModelWork,
} from '../workers/backends.ts';
import { createAvailability } from './availability.ts';
import { inPrecision, KNOWN_MODELS } from './known-models.ts';
import { type BackendFactory, type ModelRuntime, type OnBatch, openModelRuntime } from './model-runtime.ts';
import { readModelRows } from './operator-models.ts';
import { createRegistry, type Registry } from './registry.ts';
import { BUILT_IN_MODELS } from './rows/built-in.ts';

export interface ModelHost {
  readonly registry: Registry;
  readonly models: ModelRuntime;
  close(): Promise<void>;
}

export type ModelHostSettings = Pick<
  Config,
  | 'models'
  | 'modelAliases'
  | 'defaultReranker'
  | 'defaultEmbedder'
  | 'modelsWarm'
  | 'modelMemoryBytes'
  | 'modelDownload'
  | 'modelHubUrl'
  | 'modelHubToken'
  | 'modelPrecision'
  | 'modelThreads'
  | 'modelBatching'
  | 'modelDeadlineMs'
  | 'modelTimeoutMs'
  | 'ffmpeg'
  | 'speechUrl'
  | 'speechModel'
  | 'speechKey'
>;

export interface ModelHostTools {
  /** Folder of downloaded models. */
  readonly dir: string;
  readonly fetch: TrustedFetch;
  /** Token counter for remote servers that do not report token counts themselves. */
  readonly tokens: RemoteTools['tokens'];
  readonly log: Log;
  readonly onBatch?: OnBatch | undefined;
  /** Runs local models on workers instead of here. */
  readonly work?: ModelWork | undefined;
  /** Tools for images, PDFs and clips. If unset, only text is accepted. */
  readonly media?: Pick<MediaReaderOptions, 'fetch' | 'documents' | 'ocr' | 'temporaryDir'> | undefined;
}

/** Throws ConfigError for an invalid row, alias or warm model. Starts loading warm models. */
export async function openModelHost(settings: ModelHostSettings, tools: ModelHostTools): Promise<ModelHost> {
  const { fetch, log, dir, work } = tools;
  const hub = createHub({
    dir,
    fetch,
    log,
    download: settings.modelDownload,
    url: settings.modelHubUrl,
    token: settings.modelHubToken,
  });
  const media =
    tools.media &&
    createMediaReader({
      ...tools.media,
      ffmpeg: settings.ffmpeg,
      transcribe: createTranscribe(settings, fetch),
    });
  const models = openModelRuntime({
    media,
    backends: createBackendFactory({
      onnx: {
        files: hub.files,
        threads: settings.modelThreads,
        batching: settings.modelBatching,
        timeoutMs: settings.modelTimeoutMs,
        log,
      },
      remote: { fetch, timeoutMs: settings.modelTimeoutMs, tokens: tools.tokens, log },
      work,
    }),
    maxBytes: settings.modelMemoryBytes,
    deadlineMs: settings.modelDeadlineMs,
    log,
    onBatch: tools.onBatch,
  });
  const known = KNOWN_MODELS.map((row) => inPrecision(row, settings.modelPrecision));
  const availability = createAvailability({ hub, download: settings.modelDownload });
  const registry = createRegistry({
    rows: [...BUILT_IN_MODELS, ...known, ...readModelRows(settings.models)],
    aliases: settings.modelAliases,
    defaultReranker: settings.defaultReranker,
    defaultEmbedder: settings.defaultEmbedder,
    availabilityCheck: work ? createWorkerAvailability(work, availability) : availability,
  });
  const warm = await Promise.all(
    settings.modelsWarm.map(async (id) => {
      const found = await registry.find(id);
      if (!found) throw new ConfigError(`modelsWarm: model ${id} is unknown or not available on this machine`);
      return found.row;
    }),
  );
  models.warm(warm);
  return {
    registry,
    models,
    async close() {
      await models.close();
      await hub.close();
    },
  };
}

interface OpeningTools {
  readonly onnx: OnnxOptions;
  readonly remote: RemoteTools;
  readonly work: ModelWork | undefined;
}

function createBackendFactory({ onnx, remote, work }: OpeningTools): BackendFactory {
  const builtIn = createStaticBackends();
  return {
    embedder(row) {
      if (row.runs.on === 'static') return builtIn.embedder;
      if (row.runs.on === 'remote') return createRemoteEmbedder(row, row.runs, remote);
      return work ? createWorkerEmbedder(row, work) : createOnnxEmbedder(row, onnx);
    },
    reranker(row) {
      if (row.runs.on === 'static') return builtIn.reranker;
      if (row.runs.on === 'remote') return createRemoteReranker(row, row.runs, remote);
      return work ? createWorkerReranker(row, work) : createOnnxReranker(row, onnx);
    },
  };
}
