/** Served models with what runs them: each row's backend and queue are made on first use, and ended with the server. */

import { setMaxListeners } from 'node:events';
import { unlessAborted } from '#concurrency/deadline.ts';
import { problem } from '#errors.ts';
import type { Log } from '#telemetry/log.ts';
import { type Trace, traceStep } from '#telemetry/trace.ts';
import type { Backend, Embedder, EmbedOptions, Output, Prepared, Reranker } from '../backends/backend.ts';
import type { MediaReader } from '../media/reader.ts';
import { createIntake, type Share } from '../queue/intake.ts';
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

/** Makes the backend of a row, asleep. */
export interface Opening {
  embedder(row: EmbeddingRow): Embedder;
  reranker(row: RerankRow): Reranker;
}

/** What a request brings along beside its content. */
export interface Call {
  /** Callers take turns at a model. */
  readonly caller: string;
  /** Gives way at the model to everybody who is not. */
  readonly patient?: boolean | undefined;
  readonly signal: AbortSignal;
  /** Told the tokens before they are run; it may refuse them. */
  readonly admit: (tokens: number) => Promise<void>;
  readonly trace?: Trace | undefined;
}

export interface Opened {
  /** Runs work with a model in memory, within the deadline of a request: ServiceTimeoutError after it. */
  withEmbedder<T>(
    row: EmbeddingRow,
    use: Use,
    work: (open: OpenEmbedder, signal: AbortSignal, hold: Share['hold']) => Promise<T>,
  ): Promise<T>;
  withReranker<T>(row: RerankRow, use: Use, work: (open: OpenReranker, signal: AbortSignal) => Promise<T>): Promise<T>;
  residence(row: ModelRow): Residence;
  /** Brings models into memory that must be there; what fails is tried again, at growing pauses. */
  warm(rows: readonly ModelRow[]): void;
  readiness(): Readiness;
  /** What makes media ready; without it nothing but text is read. */
  readonly media: MediaReader | undefined;
  /** What waits and runs, of each model that was asked for. */
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
  /** Models that must be in memory, and others that are. */
  readonly models: Readonly<Record<string, Residence>>;
  readonly reason?: string;
}

export interface OpenedOptions {
  readonly opening: Opening;
  /** Closed with the models. */
  readonly media?: MediaReader | undefined;
  /** Of all models together. */
  readonly maxBytes: number;
  /** What one request may take, loading and waiting included. */
  readonly deadlineMs: number;
  readonly log: Log;
  readonly onBatch?: OnBatch | undefined;
}

/** Told of each batch that a model has run. */
export type OnBatch = (model: string, facts: BatchFacts) => void;

/** What may wait for one model. */
const MAX_WAITING = { maxInputs: 100_000, maxTokens: 32_000_000 };
/** What requests may hold, all together and one that is alone, in characters of what they sent and bytes made of it. */
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
  const intake = createIntake(MAX_HELD);
  const required = new Set<string>();
  /** Those of them that were in memory once: one that made room for another is loaded again when it is used. */
  const warmed = new Set<string>();
  const closing = new AbortController();
  // Every request in work listens.
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
    work: (open: Open, signal: AbortSignal, hold: Share['hold']) => Promise<T>,
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

  async function keepTrying(row: ModelRow): Promise<void> {
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
        void keepTrying(row);
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
        problem('ServiceNodeResourceDrainError', { message: 'The server is being stopped', retryAfter: 1 }),
      );
      const all = [...embedders.values(), ...rerankers.values()];
      for (const { queue } of all) queue.close();
      await Promise.all([...all.map(({ backend }) => backend.close()), media?.close()]);
    },
  };
}

const capacityOf = ({ batch, parallel }: Backend) => ({ batch, parallel, ...MAX_WAITING });

/** Aborted when any of the signals is, or with ServiceTimeoutError when the time is over. */
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
