/** Models out of ONNX files, run on this machine: encoders that embed and cross-encoders that rerank. */
import { stat } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import type { EmbeddingRow, ModelRow, RerankRow, Runs } from '../catalogue.ts';
import {
  type ModelSpec,
  type ReadyPairs,
  type ReadySequence,
  RUN_TOKENS,
  type Sequence,
  type SequenceOutput,
} from '../onnx/messages.ts';
import { createModelProcess, type ModelLog, type ModelProcess } from '../onnx/model-process.ts';
import type { Backend, Embedder, EmbedOptions, Prepared, PrepareOptions, Reranker } from './backend.ts';

export interface OnnxOptions {
  /** Brings the files of a row to this machine when they are not, and gives their folder; see `createHub`. */
  readonly files: (row: ModelRow) => Promise<ModelFiles>;
  /** Threads of one run. Default: as many as there are processors. */
  readonly threads?: number | undefined;
  /** What a process may take. Default: three quarters of the machine's memory. */
  readonly maxBytes?: number | undefined;
  /** Of one batch. Default two minutes. */
  readonly timeoutMs?: number | undefined;
  /** From the start of the process to the loaded model. Default five minutes. */
  readonly loadTimeoutMs?: number | undefined;
  readonly log: ModelLog;
}

/** Absolute paths. */
export interface ModelFiles {
  readonly graph: string;
  readonly tokenizer: string;
  readonly tokenizerConfig: string;
}

const BATCH = { tokens: RUN_TOKENS, inputs: 128 };
/** Of a process with its runtime, before there is a model. */
const EMPTY_PROCESS_BYTES = 120 * 1024 ** 2;

type OnnxRuns = Extract<Runs, { on: 'onnx' }>;

function onnxRuns(row: ModelRow): OnnxRuns {
  if (row.runs.on !== 'onnx') throw new Error(`${row.id} does not run here`);
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
      return specOf(row, files, options.threads ?? os.availableParallelism());
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
    get loaded() {
      return host.loaded;
    },
    get memoryBytes() {
      return host.residentBytes || EMPTY_PROCESS_BYTES + Math.round(fileBytes * 1.2);
    },
    parallel: 1,
    batch: BATCH,
  };
  return { backend, host };
}

/** What there is for this process: the machine's, or what its container may take. */
const machineBytes = () => Math.min(os.totalmem(), process.constrainedMemory() || Number.POSITIVE_INFINITY);

/** The graph and the weights beside it. */
const graphFiles = ({ graph }: ModelFiles, { data, file }: OnnxRuns): string[] => [
  graph,
  ...(data?.[file] ?? []).map((name) => path.join(path.dirname(graph), path.basename(name))),
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

function specOf(row: ModelRow, files: ModelFiles, threads: number): ModelSpec {
  const { taskIds, marks } = onnxRuns(row);
  const common = { ...files, contextTokens: row.contextTokens, threads, taskIds, marks };
  if (row.does === 'rerank') return { ...common, does: 'rerank', pooling: 'none', normalizes: false, output: 'score' };
  const output = row.kind === 'sparse' ? 'sparse' : row.kind === 'colbert' ? 'tokens' : 'pooled';
  const dimensions = row.kind === 'sparse' ? undefined : row.dimensions;
  return { ...common, does: 'embed', pooling: row.pooling, normalizes: row.normalizes, output, dimensions };
}

const prepared = ({ sequence, tokens, fullTokens }: ReadySequence): Prepared => ({
  tokens,
  fullTokens,
  payload: sequence,
});

const sequences = (batch: readonly Prepared[]) => batch.map(({ payload }) => payload as Sequence);

/** The row must be one of `on: 'onnx'`. */
export function createOnnxEmbedder(row: EmbeddingRow, options: OnnxOptions): Embedder {
  const { backend, host } = startBackend(row, options);
  const ready = async (ask: Parameters<ModelProcess['ask']>[0], signal: AbortSignal) =>
    ((await host.ask(ask, signal)) as ReadySequence[]).map(prepared);
  return Object.assign(backend, {
    dimensions: row.dimensions,
    prepare: (texts: readonly string[], { maxTokens, task, signal }: PrepareOptions) =>
      ready({ do: 'prepare', texts, maxTokens, task }, signal),
    // Only where each token's state is part of the vector can a part of the tokens have a vector of its own.
    ...(row.pooling === 'mean' && {
      prepareSpans: (prefix: string, items: readonly string[], { maxTokens, task, signal }: PrepareOptions) =>
        ready({ do: 'spans', prefix, items, maxTokens, task }, signal),
    }),
    async embed(batch: readonly Prepared[], { output, signal }: EmbedOptions) {
      if (batch.length === 0) return [];
      return (await host.ask({ do: 'run', batch: sequences(batch), output }, signal)) as SequenceOutput[];
    },
  });
}

/** The row must be one of `on: 'onnx'`. */
export function createOnnxReranker(row: RerankRow, options: OnnxOptions): Reranker {
  const { backend, host } = startBackend(row, options);
  return Object.assign(backend, {
    async prepare(query: string, documents: readonly string[], { maxTokens, signal }: PrepareOptions) {
      const ready = (await host.ask({ do: 'pairs', query, documents, maxTokens }, signal)) as ReadyPairs;
      return { pairs: ready.pairs.map(prepared), documents: ready.documents };
    },
    async score(batch: readonly Prepared[], signal: AbortSignal) {
      if (batch.length === 0) return new Float32Array();
      const outputs = await host.ask({ do: 'run', batch: sequences(batch), output: 'score' }, signal);
      return Float32Array.from(outputs as SequenceOutput[], ({ values }) => sigmoid(values[0]!));
    },
  });
}

const sigmoid = (logit: number) => 1 / (1 + Math.exp(-logit));
