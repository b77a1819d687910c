/** Runtime of the served models: creates each row's backend and queue on first use and closes them with the server. */

import { setMaxListeners } from 'node:events';
import { unlessAborted } from '#concurrency/deadline.ts';
import { problem } from '#errors.ts';
import type { Log } from '#telemetry/log.ts';
import { type Trace, traceStep } from '#telemetry/trace.ts';
import type { Backend, Embedder, EmbedOptions, Output, Prepared, Reranker } from '../backends/backend.ts';
import type { MediaReader } from '../media/reader.ts';
import { createAdmission, type MemoryShare } from '../queue/intake.ts';
import { type BatchFacts, createQueue, type Lane, type Queue } from '../queue/queue.ts';
import type { EmbeddingRow, ModelRow, RerankRow } from './catalogue.ts';
import { createResidents, type Residence } from './residents.ts';

export interface EmbedLane extends Lane, Omit<EmbedOptions, 'signal'> {}

export interface OpenEmbedder {
  readonly backend: Embedder;
  readonly queue: Queue<Prepared, EmbedLane, Output>;
}

export interface OpenReranker {
  readonly backend: Reranker;
  readonly queue: Queue<Prepared, Lane, number>;
}

/** Creates backends without loading the model. */
export interface Opening {
  embedder(row: EmbeddingRow): Embedder;
  reranker(row: RerankRow): Reranker;
}

/** Context of a model request. */
export interface Call {
  /** Callers share a model fairly. */
  readonly caller: string;
  /** Batch work: yields to interactive requests. */
  readonly background?: boolean | undefined;
  readonly signal: AbortSignal;
  /** Called with the token count before the run; may reject the request. */
  readonly admit: (tokens: number) => Promise<void>;
  readonly trace?: Trace | undefined;
}

export interface Opened {
  /** Runs work with a loaded model. Throws ServiceTimeoutError after the request deadline. */
  withEmbedder<T>(
    row: EmbeddingRow,
    use: Use,
    work: (open: OpenEmbedder, signal: AbortSignal, hold: MemoryShare['hold']) => Promise<T>,
  ): Promise<T>;
  withReranker<T>(row: RerankRow, use: Use, work: (open: OpenReranker, signal: AbortSignal) => Promise<T>): Promise<T>;
  residence(row: ModelRow): Residence;
  /** Loads models that must be in memory; retries failures with back-off. */
  warm(rows: readonly ModelRow[]): void;
  readiness(): Readiness;
  /** Loads media; without it only text is accepted. */
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

export interface Use {
  readonly characters: number;
  readonly signal: AbortSignal;
  readonly trace?: Trace | undefined;
}

export interface Readiness {
  readonly ready: boolean;
  /** Required models, and others that are loaded. */
  readonly models: Readonly<Record<string, Residence>>;
  readonly reason?: string;
}

export interface OpenedOptions {
  readonly opening: Opening;
  /** Closed together with the models. */
  readonly media?: MediaReader | undefined;
  /** Limit for all models together. */
  readonly maxBytes: number;
  /** Limit for one request, including loading and waiting. */
  readonly deadlineMs: number;
  readonly log: Log;
  readonly onBatch?: OnBatch | undefined;
}

/** Called after each batch. */
export type OnBatch = (model: string, facts: BatchFacts) => void;

/** Limits of one model's queue. */
const MAX_WAITING = { maxInputs: 100_000, maxTokens: 32_000_000 };
/** Limits of data held by all requests, and by a single one. Characters of the input and bytes derived from it. */
const MAX_HELD = { most: 256_000_000, mostOfOne: 512_000_000 };
const FIRST_RETRY_MS = 1_000;
const LAST_RETRY_MS = 60_000;

export function openModels({ opening, media, maxBytes, deadlineMs, log, onBatch }: OpenedOptions): Opened {
  const embedders = new Map<string, OpenEmbedder>();
  const rerankers = new Map<string, OpenReranker>();
  const rows = new Map<string, ModelRow>();
  const ids = new Map<Backend, string>();
  const residents = createResidents({
    maxBytes,
    onFailed(backend, err) {
      if (!closing.signal.aborted) log.warn({ err, model: ids.get(backend) }, 'a model could not be loaded');
    },
  });
  const intake = createAdmission(MAX_HELD);
  const required = new Set<string>();
  /** Required models that were loaded once. One evicted for another model is loaded again on use. */
  const warmed = new Set<string>();
  const closing = new AbortController();
  // Each request in progress adds a listener.
  setMaxListeners(0, closing.signal);

  const observed = ({ id }: ModelRow) => onBatch && { onBatch: (facts: BatchFacts) => onBatch(id, facts) };

  function embedder(row: EmbeddingRow): OpenEmbedder {
    const known = embedders.get(row.id);
    if (known) return known;
    const backend = opening.embedder(row);
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
    const backend = opening.reranker(row);
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
    { characters, signal, trace }: Use,
    work: (open: Open, signal: AbortSignal, hold: MemoryShare['hold']) => Promise<T>,
  ): Promise<T> {
    const share = intake.enter(characters);
    const deadline = startDeadline(deadlineMs, [signal, closing.signal]);
    let release = () => {};
    try {
      release = await traceStep('load', trace, () => residents.hold(made.backend, deadline.signal));
      return await work(made, deadline.signal, share.hold);
    } finally {
      release();
      deadline.end();
      share.leave();
    }
  }

  async function loadWithRetries(row: ModelRow): Promise<void> {
    for (let pauseMs = FIRST_RETRY_MS; !closing.signal.aborted; pauseMs = Math.min(pauseMs * 2, LAST_RETRY_MS)) {
      try {
        (await residents.hold(open(row).backend, closing.signal))();
        warmed.add(row.id);
        return;
      } catch {
        if (closing.signal.aborted) return;
      }
      await pause(pauseMs, closing.signal);
    }
  }

  const residence = (row: ModelRow): Residence => {
    const made = embedders.get(row.id) ?? rerankers.get(row.id);
    return made ? residents.residence(made.backend) : 'asleep';
  };

  return {
    media,
    withEmbedder: async (row, use, work) => using(embedder(row), use, work),
    withReranker: async (row, use, work) => using(reranker(row), use, work),
    residence,
    warm(wanted) {
      for (const row of wanted) {
        required.add(row.id);
        rows.set(row.id, row);
        void loadWithRetries(row);
      }
    },
    readiness() {
      const models: Record<string, Residence> = {};
      for (const row of rows.values()) {
        const state = residence(row);
        if (required.has(row.id) || state !== 'asleep') models[row.id] = state;
      }
      const missing = [...required].filter((id) => models[id] !== 'loaded' && !warmed.has(id));
      if (!missing.length) return { ready: true, models };
      const failed = missing.filter((id) => models[id] === 'failed');
      const reason = failed.length ? `could not be loaded: ${failed.join(', ')}` : `loading: ${missing.join(', ')}`;
      return { ready: false, models, reason };
    },
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
  const message = `Service request timed out: not done within ${ms / 1000} s (LECTERN_MODEL_DEADLINE_MS)`;
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

async function pause(ms: number, signal: AbortSignal): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const over = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ms);
  });
  await unlessAborted(signal, over).catch(() => {});
  clearTimeout(timer);
}
