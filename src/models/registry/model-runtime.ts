/** Runtime of the served models: creates each row's backend and queue on first use and closes them with the server. */

import { setMaxListeners } from 'node:events';
import { problem } from '#errors.ts';
import type { Log } from '#telemetry/log.ts';
import { type Trace, traceStep } from '#telemetry/trace.ts';
import type { Backend, Embedder, EmbedOptions, Output, Prepared, Reranker } from '../backend.ts';
import type { MediaReader } from '../media/reader.ts';
import { createAdmission, type MemoryShare } from '../queue/admission.ts';
import { type BatchFacts, createQueue, type Lane, type Queue } from '../queue/queue.ts';
import type { EmbeddingRow, ModelRow, RerankRow } from './catalogue.ts';
import { createModelMemory, type LoadState } from './model-memory.ts';
import { createRequiredModels, type Readiness } from './required-models.ts';

export interface EmbedLane extends Lane, Omit<EmbedOptions, 'signal'> {}

export interface OpenEmbedder {
  readonly backend: Embedder;
  readonly queue: Queue<Prepared, EmbedLane, Output>;
}

export interface OpenReranker {
  readonly backend: Reranker;
  readonly queue: Queue<Prepared, Lane, number>;
}

/** Creates backends without loading their models. */
export interface BackendFactory {
  embedder(row: EmbeddingRow): Embedder;
  reranker(row: RerankRow): Reranker;
}

/** Context of a request to a model. */
export interface RequestContext {
  /** Identifies the caller. Callers share a model fairly. */
  readonly caller: string;
  /** Batch work, which yields to interactive requests. */
  readonly background?: boolean | undefined;
  readonly signal: AbortSignal;
  /** Called with the token count before the model runs; may reject the request. */
  readonly admit: (tokens: number) => Promise<void>;
  readonly trace?: Trace | undefined;
}

export interface ModelRuntime {
  /** Runs work with a loaded model. Throws ServiceTimeoutError when the request's deadline has passed. */
  withEmbedder<T>(
    row: EmbeddingRow,
    use: ModelUse,
    work: (open: OpenEmbedder, signal: AbortSignal, hold: MemoryShare['hold']) => Promise<T>,
  ): Promise<T>;
  withReranker<T>(
    row: RerankRow,
    use: ModelUse,
    work: (open: OpenReranker, signal: AbortSignal) => Promise<T>,
  ): Promise<T>;
  residence(row: ModelRow): LoadState;
  /** Loads models that must stay in memory. Failures are retried with back-off. */
  warm(rows: readonly ModelRow[]): void;
  readiness(): Readiness;
  /** Loads media. If unset, only text is accepted. */
  readonly media: MediaReader | undefined;
  /** Queue and running batches of each model used so far. */
  loads(): Iterable<ModelLoad>;
  close(): Promise<void>;
}

export interface ModelLoad {
  readonly model: string;
  readonly waiting: { readonly inputs: number; readonly tokens: number };
  readonly runningBatches: number;
}

export interface ModelUse {
  readonly characters: number;
  readonly signal: AbortSignal;
  readonly trace?: Trace | undefined;
}

export interface ModelRuntimeOptions {
  readonly backends: BackendFactory;
  /** Closed together with the models. */
  readonly media?: MediaReader | undefined;
  /** Maximum total memory of all models. */
  readonly maxBytes: number;
  /** Deadline for one request, including loading and waiting. */
  readonly deadlineMs: number;
  readonly log: Log;
  readonly onBatch?: OnBatch | undefined;
}

/** Called after each batch. */
export type OnBatch = (model: string, facts: BatchFacts) => void;

/** Maximum size of one model's queue. */
const MAX_WAITING = { maxInputs: 100_000, maxTokens: 32_000_000 };
/**
 * Maximum amount of data in memory for all requests together (`most`), and for one request (`mostOfOne`): characters of
 * the input, and bytes derived from it.
 */
const MAX_HELD = { most: 256_000_000, mostOfOne: 512_000_000 };
export function openModelRuntime({
  backends,
  media,
  maxBytes,
  deadlineMs,
  log,
  onBatch,
}: ModelRuntimeOptions): ModelRuntime {
  const embedders = new Map<string, OpenEmbedder>();
  const rerankers = new Map<string, OpenReranker>();
  const rows = new Map<string, ModelRow>();
  const ids = new Map<Backend, string>();
  const memory = createModelMemory({
    maxBytes,
    onFailed(backend, err) {
      if (!closing.signal.aborted) log.warn({ err, model: ids.get(backend) }, 'a model could not be loaded');
    },
  });
  const admission = createAdmission(MAX_HELD);
  const closing = new AbortController();
  // Each request in progress adds a listener.
  setMaxListeners(0, closing.signal);

  const observed = ({ id }: ModelRow) => onBatch && { onBatch: (facts: BatchFacts) => onBatch(id, facts) };

  function embedder(row: EmbeddingRow): OpenEmbedder {
    const known = embedders.get(row.id);
    if (known) return known;
    const backend = backends.embedder(row);
    const run = (batch: readonly Prepared[], { output, dimensions }: EmbedLane, signal: AbortSignal) =>
      backend.embed(batch, { output, dimensions, signal });
    const made = { backend, queue: createQueue({ run, ...capacityOf(backend), ...observed(row) }) };
    embedders.set(row.id, made);
    rows.set(row.id, row);
    ids.set(backend, row.id);
    return made;
  }

  function reranker(row: RerankRow): OpenReranker {
    const known = rerankers.get(row.id);
    if (known) return known;
    const backend = backends.reranker(row);
    const run = async (batch: readonly Prepared[], _: Lane, signal: AbortSignal) => [
      ...(await backend.score(batch, signal)),
    ];
    const made = { backend, queue: createQueue({ run, ...capacityOf(backend), ...observed(row) }) };
    rerankers.set(row.id, made);
    rows.set(row.id, row);
    ids.set(backend, row.id);
    return made;
  }

  const open = (row: ModelRow) => (row.does === 'embed' ? embedder(row) : reranker(row));

  async function using<T, Open extends { readonly backend: Backend }>(
    made: Open,
    { characters, signal, trace }: ModelUse,
    work: (open: Open, signal: AbortSignal, hold: MemoryShare['hold']) => Promise<T>,
  ): Promise<T> {
    const share = admission.enter(characters);
    const deadline = startDeadline(deadlineMs, [signal, closing.signal]);
    let release = () => {};
    try {
      release = await traceStep('load', trace, () => memory.hold(made.backend, deadline.signal));
      return await work(made, deadline.signal, share.hold);
    } finally {
      release();
      deadline.end();
      share.leave();
    }
  }

  const residence = (row: ModelRow): LoadState => {
    const made = embedders.get(row.id) ?? rerankers.get(row.id);
    return made ? memory.loadState(made.backend) : 'asleep';
  };

  const required = createRequiredModels({
    load: async (row, signal) => (await memory.hold(open(row).backend, signal))(),
    residence,
    rows,
    signal: closing.signal,
  });

  return {
    media,
    withEmbedder: async (row, use, work) => using(embedder(row), use, work),
    withReranker: async (row, use, work) => using(reranker(row), use, work),
    residence,
    warm: required.load,
    readiness: required.readiness,
    *loads() {
      for (const [model, { queue }] of [...embedders, ...rerankers]) {
        yield { model, waiting: queue.waiting, runningBatches: queue.running };
      }
    },
    async close() {
      closing.abort(
        problem('ServiceNodeResourceDrainError', { message: 'The server is shutting down', retryAfter: 1 }),
      );
      const all = [...embedders.values(), ...rerankers.values()];
      for (const { queue } of all) queue.close();
      await Promise.all([...all.map(({ backend }) => backend.close()), media?.close()]);
    },
  };
}

const capacityOf = ({ batch, parallel }: Backend) => ({ batch, parallel, ...MAX_WAITING });

/** Aborts with the first of the signals, or with ServiceTimeoutError after `ms`. */
function startDeadline(ms: number, signals: readonly AbortSignal[]) {
  const controller = new AbortController();
  const message = `The model did not finish within ${ms / 1000} s (LECTERN_MODEL_DEADLINE_MS)`;
  const timer = setTimeout(() => controller.abort(problem('ServiceTimeoutError', { message })), ms);
  const followers = signals.map((signal) => {
    const follow = () => controller.abort(signal.reason);
    if (signal.aborted) follow();
    else signal.addEventListener('abort', follow, { once: true });
    return () => signal.removeEventListener('abort', follow);
  });
  return {
    signal: controller.signal,
    end() {
      clearTimeout(timer);
      for (const stop of followers) stop();
    },
  };
}
