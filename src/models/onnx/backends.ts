/** Backends for local ONNX models: embedding encoders and cross-encoder rerankers. */
import { readFile, stat } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import type {
  Backend,
  Embedder,
  EmbedOptions,
  MediaFormats,
  Output,
  Prepared,
  PrepareOptions,
  ReadyMedium,
  Reranker,
  Token,
  TokenCodec,
} from '../backend.ts';
import { type PictureRule, readPictureRule } from '../media/picture-rule.ts';
import type { EmbeddingRow, ImageTower, ModelRow, RerankRow, Runs } from '../registry/catalogue.ts';
import {
  type ModelSpec,
  type ReadyPairs,
  type ReadySequence,
  RUN_TOKENS,
  type Sequence,
  type SequenceOutput,
} from './messages.ts';
import type { ModelLog } from './model-child.ts';
import { createModelProcess, type ModelProcess } from './model-process.ts';

export interface OnnxOptions {
  /** Downloads the files of a row if needed and returns their paths; see `createHub`. */
  readonly files: (row: ModelRow) => Promise<ModelFiles>;
  /** Number of threads for one run. Default: the number of processors. */
  readonly threads?: number | undefined;
  /**
   * Whether the inputs of quantized graphs that use one scale for a batch run alone (`exact`, the default) or together
   * (`fast`), in which case a vector depends on the other inputs.
   */
  readonly batching?: 'exact' | 'fast' | undefined;
  /** Maximum memory of a model process, in bytes. Default: three quarters of the machine's memory. */
  readonly maxBytes?: number | undefined;
  /** Timeout of one batch. Default: two minutes. */
  readonly timeoutMs?: number | undefined;
  /** Timeout from process start until the model is loaded. Default: five minutes. */
  readonly loadTimeoutMs?: number | undefined;
  readonly log: ModelLog;
}

/** Absolute paths of a model's files. */
export interface ModelFiles {
  readonly graph: string;
  readonly imageGraph?: string | undefined;
  readonly audioGraph?: string | undefined;
  /** Preprocessing configuration, for rows without a rule. */
  readonly picturesConfig?: string | undefined;
  readonly tokenizer: string;
  readonly tokenizerConfig: string;
}

/** Recommended maximum size of a batch. */
export const ONNX_BATCH = { tokens: RUN_TOKENS, inputs: 128 };
/** Memory used by a process with the runtime but without a model. */
const EMPTY_PROCESS_BYTES = 120 * 1024 ** 2;

type OnnxRuns = Extract<Runs, { on: 'onnx' }>;

function onnxRuns(row: ModelRow): OnnxRuns {
  if (row.runs.on !== 'onnx') throw new Error(`${row.id} does not run on this machine`);
  return row.runs;
}

function startBackend(row: ModelRow, options: OnnxOptions): { backend: Backend; host: ModelProcess } {
  const runs = onnxRuns(row);
  let fileBytes = runs.bytes ?? 0;
  const host = createModelProcess({
    id: row.id,
    maxBytes: options.maxBytes ?? 0.75 * machineBytes(),
    timeoutMs: options.timeoutMs ?? 120_000,
    loadTimeoutMs: options.loadTimeoutMs ?? 300_000,
    log: options.log,
    async spec() {
      const files = await options.files(row);
      fileBytes = await bytesOf(files, runs);
      return await specOf(row, files, options);
    },
  });
  const backend: Backend = {
    async fetch() {
      await options.files(row);
    },
    stamp: async () => stampOf(await options.files(row), runs),
    async load(signal) {
      await host.load(signal);
    },
    unload: () => host.unload(),
    close: () => host.close(),
    tokens: tokensOf(host),
    get loaded() {
      return host.loaded;
    },
    get memoryBytes() {
      return host.residentBytes || EMPTY_PROCESS_BYTES + Math.round(fileBytes * 1.2);
    },
    parallel: 1,
    batch: ONNX_BATCH,
  };
  return { backend, host };
}

function tokensOf(host: ModelProcess): TokenCodec {
  return {
    encode: async (texts, { special, signal }) =>
      (await host.request({ do: 'tokenize', texts, special }, signal)) as Token[][],
    decode: async (lists, { skipSpecial, signal }) =>
      (await host.request({ do: 'detokenize', lists, skipSpecial }, signal)) as (string | undefined)[],
    idsOf: async (pieces, signal) => (await host.request({ do: 'ids', pieces }, signal)) as (number | undefined)[],
  };
}

/** The machine's memory, or its container's memory limit. */
const machineBytes = () => Math.min(os.totalmem(), process.constrainedMemory() || Number.POSITIVE_INFINITY);

/** The graph and its external weight files. */
const graphFiles = (
  { graph, imageGraph = graph, audioGraph = graph }: ModelFiles,
  { data, file, towers }: OnnxRuns,
): string[] => [
  ...new Set([
    ...withData(graph, data?.[file]),
    ...withData(imageGraph, towers?.image && data?.[towers.image.file]),
    ...withData(audioGraph, towers?.audio && data?.[towers.audio.file]),
  ]),
];

const withData = (graph: string, data: readonly string[] = []): string[] => [
  graph,
  ...data.map((name) => path.join(path.dirname(graph), path.basename(name))),
];

async function bytesOf(files: ModelFiles, runs: OnnxRuns): Promise<number> {
  const sizes = await Promise.all(graphFiles(files, runs).map((name) => stat(name).catch(() => ({ size: 0 }))));
  return sizes.reduce((sum, { size }) => sum + size, 0);
}

async function stampOf(files: ModelFiles, runs: OnnxRuns): Promise<string> {
  const all = [...graphFiles(files, runs), files.tokenizer, files.tokenizerConfig];
  const states = await Promise.all(all.map((name) => stat(name).catch(() => undefined)));
  return states.map((state) => (state ? `${state.ino} ${state.size} ${state.mtimeMs}` : 'none')).join('\n');
}

async function specOf(
  row: ModelRow,
  files: ModelFiles,
  { threads = os.availableParallelism(), batching = 'exact' }: Pick<OnnxOptions, 'threads' | 'batching'>,
): Promise<ModelSpec> {
  const { taskIds, marks, judge, querySuffix, textTokens, towers } = onnxRuns(row);
  const { graph, tokenizer, tokenizerConfig, imageGraph, audioGraph } = files;
  const image =
    towers?.image && imageGraph !== undefined
      ? { ...towers.image, graph: imageGraph, rule: await pictureRuleOf(towers.image, files) }
      : undefined;
  const audio = towers?.audio && audioGraph !== undefined ? { ...towers.audio, graph: audioGraph } : undefined;
  const common = {
    ...{ graph, tokenizer, tokenizerConfig, contextTokens: row.contextTokens, threads, batching },
    ...{ taskIds, marks, judge, querySuffix, textTokens, image, audio },
  };
  if (row.does === 'rerank') return { ...common, does: 'rerank', pooling: 'none', normalizes: false, output: 'score' };
  const output = row.kind === 'sparse' ? 'sparse' : row.kind === 'colbert' ? 'tokens' : 'pooled';
  const dimensions = row.kind === 'sparse' ? undefined : row.dimensions;
  return { ...common, does: 'embed', pooling: row.pooling, normalizes: row.normalizes, output, dimensions };
}

/** Returns the row's rule, or else the rule from the published configuration. */
async function pictureRuleOf({ rule }: ImageTower, { picturesConfig }: ModelFiles): Promise<PictureRule> {
  if (rule) return rule;
  if (picturesConfig === undefined) throw new Error('there is no preprocessing rule for images');
  return readPictureRule(JSON.parse(await readFile(picturesConfig, 'utf8')) as Record<string, unknown>);
}

const prepared = ({ sequence, tokens, fullTokens }: ReadySequence): Prepared => ({
  tokens,
  fullTokens,
  payload: sequence,
});

const sequences = (batch: readonly Prepared[]) => batch.map(({ payload }) => payload as Sequence);

type Payload = Sequence | ReadyMedium;
const isOf = (medium: 'image' | 'audio') => (payload: Payload) => 'medium' in payload && payload.medium === medium;

/** Groups a batch by graph: texts, images, sounds. Each item remembers its position in the batch. */
function requestsOf(batch: readonly Prepared[], output: EmbedOptions['output']) {
  const all = batch.map(({ payload }, at) => ({ payload: payload as Payload, at }));
  const texts = all.filter(({ payload }) => !('medium' in payload));
  const pictures = all.filter(({ payload }) => isOf('image')(payload));
  const sounds = all.filter(({ payload }) => isOf('audio')(payload));
  const of = <T>(items: typeof all) => items.map(({ payload }) => payload as T);
  return [
    { items: texts, request: { do: 'run', batch: of<Sequence>(texts), output } as const },
    {
      items: pictures,
      request: { do: 'images', pictures: of<{ rgb: Uint8Array }>(pictures).map(({ rgb }) => rgb) } as const,
    },
    {
      items: sounds,
      request: {
        do: 'sounds',
        sounds: of<{ features: Float32Array }>(sounds).map(({ features }) => features),
      } as const,
    },
  ].filter(({ items }) => items.length > 0);
}

/** Media need no preparation beyond their rule. Their number of tokens depends on the model only. */
export const prepareTowerMedia = (towers: NonNullable<OnnxRuns['towers']>, media: readonly ReadyMedium[]): Prepared[] =>
  media.map((payload) => {
    const tokens = towers[payload.medium === 'audio' ? 'audio' : 'image']?.tokens ?? 1;
    return { tokens, fullTokens: tokens, payload };
  });

/** `row.runs.on` must be `onnx`. */
export function createOnnxEmbedder(row: EmbeddingRow, options: OnnxOptions): Embedder {
  const { backend, host } = startBackend(row, options);
  const { towers } = onnxRuns(row);
  const ready = async (request: Parameters<ModelProcess['request']>[0], signal: AbortSignal) =>
    ((await host.request(request, signal)) as ReadySequence[]).map(prepared);
  return Object.assign(backend, {
    dimensions: row.dimensions,
    prepare: (texts: readonly string[], { maxTokens, task, signal }: PrepareOptions) =>
      ready({ do: 'prepare', texts, maxTokens, task }, signal),
    // Other kinds of pooling cannot give a group of tokens its own vector.
    ...(row.pooling === 'mean' && {
      prepareChunks: (prefix: string, items: readonly string[], { maxTokens, task, signal }: PrepareOptions) =>
        ready({ do: 'chunks', prefix, items, maxTokens, task }, signal),
    }),
    ...(towers && {
      async media(): Promise<MediaFormats> {
        const image = towers.image && (await pictureRuleOf(towers.image, await options.files(row)));
        return { image, audio: towers.audio?.rule };
      },
      prepareMedia: async (media: readonly ReadyMedium[]) => prepareTowerMedia(towers, media),
    }),
    async embed(batch: readonly Prepared[], { output, signal }: EmbedOptions) {
      const outputs: Output[] = new Array(batch.length);
      for (const { items, request } of requestsOf(batch, output)) {
        const found = (await host.request(request, signal)) as SequenceOutput[];
        for (const [index, { at }] of items.entries()) outputs[at] = found[index]!;
      }
      return outputs;
    },
  });
}

/** `row.runs.on` must be `onnx`. */
export function createOnnxReranker(row: RerankRow, options: OnnxOptions): Reranker {
  const { backend, host } = startBackend(row, options);
  return Object.assign(backend, {
    async prepare(query: string, documents: readonly string[], { maxTokens, signal }: PrepareOptions) {
      const ready = (await host.request({ do: 'pairs', query, documents, maxTokens }, signal)) as ReadyPairs;
      return { pairs: ready.pairs.map(prepared), documents: ready.documents };
    },
    async score(batch: readonly Prepared[], signal: AbortSignal) {
      if (batch.length === 0) return new Float32Array();
      const outputs = await host.request({ do: 'run', batch: sequences(batch), output: 'score' }, signal);
      return Float32Array.from(outputs as SequenceOutput[], ({ values }) => sigmoid(values[0]!));
    },
  });
}

const sigmoid = (logit: number) => 1 / (1 + Math.exp(-logit));
