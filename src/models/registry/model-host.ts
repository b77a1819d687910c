/** The models of the model host, wired from the configuration: which there are, what runs each, how they share memory. */
import { createRequire } from 'node:module';
import { type Config, ConfigError } from '#config.ts';
import type { TrustedFetch } from '#net/trusted.ts';
import type { Log } from '#telemetry/log.ts';
import { createOnnxEmbedder, createOnnxReranker, type OnnxOptions } from '../backends/onnx.ts';
import { createRemoteEmbedder, createRemoteReranker, type RemoteTools } from '../backends/remote.ts';
import { createStaticBackends } from '../backends/static.ts';
import { createHub } from '../hub/hub.ts';
import { createMediaReader, type MediaReaderOptions } from '../media/reader.ts';
import { createTranscribe } from '../media/transcript.ts';
import { createAvailability } from './availability.ts';
import { BUILT_IN_MODELS } from './built-in.ts';
import { inPrecision, KNOWN_MODELS } from './known-models.ts';
import { type OnBatch, type Opened, type Opening, openModels } from './opened.ts';
import { readModelRows } from './operator-models.ts';
import { createRegistry, type Registry } from './registry.ts';

export interface ModelHost {
  readonly registry: Registry;
  readonly models: Opened;
  close(): Promise<void>;
}

export type ModelHostSettings = Pick<
  Config,
  | 'models'
  | 'modelAliases'
  | 'modelsWarm'
  | 'modelMemoryBytes'
  | 'modelDownload'
  | 'modelHubUrl'
  | 'modelHubToken'
  | 'modelPrecision'
  | 'modelThreads'
  | 'modelDeadlineMs'
  | 'modelTimeoutMs'
  | 'ffmpeg'
  | 'speechUrl'
  | 'speechModel'
  | 'speechKey'
>;

export interface ModelHostTools {
  /** Where models of the hub lie. */
  readonly dir: string;
  readonly fetch: TrustedFetch;
  /** For servers elsewhere that do not tell how many tokens a text has. */
  readonly tokens: RemoteTools['tokens'];
  readonly log: Log;
  readonly onBatch?: OnBatch | undefined;
  /** For pictures, PDFs and clips; without it nothing but text is read. */
  readonly media?: Pick<MediaReaderOptions, 'fetch' | 'documents' | 'ocr' | 'temporaryDir'> | undefined;
}

/** Throws ConfigError for a row, an alias or a warm model that is none. Loading of warm models begins at once. */
export async function openModelHost(settings: ModelHostSettings, tools: ModelHostTools): Promise<ModelHost> {
  const { fetch, log, dir } = tools;
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
  const models = openModels({
    media,
    opening: createOpening({
      onnx: { files: hub.files, threads: settings.modelThreads, timeoutMs: settings.modelTimeoutMs, log },
      remote: { fetch, timeoutMs: settings.modelTimeoutMs, tokens: tools.tokens, log },
    }),
    maxBytes: settings.modelMemoryBytes,
    deadlineMs: settings.modelDeadlineMs,
    log,
    onBatch: tools.onBatch,
  });
  const known = KNOWN_MODELS.map((row) => inPrecision(row, settings.modelPrecision));
  const registry = createRegistry({
    rows: [...BUILT_IN_MODELS, ...known, ...readModelRows(settings.models)],
    aliases: settings.modelAliases,
    shelf: createAvailability({ hub, download: settings.modelDownload, hasRuntime: hasRuntime() }),
  });
  const warm = await Promise.all(
    settings.modelsWarm.map(async (id) => {
      const found = await registry.find(id);
      if (!found) throw new ConfigError(`modelsWarm: there is no model ${id}, or it cannot be had on this machine`);
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
}

function createOpening({ onnx, remote }: OpeningTools): Opening {
  const builtIn = createStaticBackends();
  return {
    embedder(row) {
      if (row.runs.on === 'static') return builtIn.embedder;
      return row.runs.on === 'onnx' ? createOnnxEmbedder(row, onnx) : createRemoteEmbedder(row, row.runs, remote);
    },
    reranker(row) {
      if (row.runs.on === 'static') return builtIn.reranker;
      return row.runs.on === 'onnx' ? createOnnxReranker(row, onnx) : createRemoteReranker(row, row.runs, remote);
    },
  };
}

/** Its presence is all that is looked for: loading it belongs to the process that runs models. */
function hasRuntime(): boolean {
  try {
    createRequire(import.meta.url).resolve('onnxruntime-node');
    return true;
  } catch {
    return false;
  }
}
