/** Backends for local ONNX models that run on workers instead of this machine. Workers load the models. */
import { setMaxListeners } from 'node:events';
import type { RemoteWork } from '#concurrency/remote-work.ts';
import { problem } from '#errors.ts';
import type { Backend, Embedder, MediaFormats, Output, Prepared, Reranker, Token } from '../backend.ts';
import { ONNX_BATCH, prepareTowerMedia } from '../onnx/backends.ts';
import type { EmbeddingRow, ModelRow, RerankRow, Runs } from '../registry/catalogue.ts';
import type { AvailabilityCheck } from '../registry/registry.ts';
import type { ModelRequest } from './messages.ts';

export type ModelWork = RemoteWork<ModelRequest, unknown>;

/** Batches that a server sends at once, so that several workers can run the same model. */
const PARALLEL = 8;
/** The longest wait for the list of models. */
const LIST_MS = 5_000;

type Ask = <Answer>(request: ModelRequest, signal: AbortSignal) => Promise<Answer>;

function startBackend(row: ModelRow, work: ModelWork): { backend: Backend; ask: Ask } {
  const model = row.id;
  const closing = new AbortController();
  // Each request in progress adds a listener.
  setMaxListeners(0, closing.signal);
  const running = new Set<Promise<unknown>>();
  let loaded = false;

  async function ask<Answer>(request: ModelRequest, signal: AbortSignal): Promise<Answer> {
    const answer = work.run(request, AbortSignal.any([signal, closing.signal])) as Promise<Answer>;
    running.add(answer);
    try {
      return await answer;
    } finally {
      running.delete(answer);
    }
  }

  const backend: Backend = {
    // Loading takes place on the workers, where the first request for the model starts it.
    async load() {
      loaded = true;
    },
    async unload() {
      while (running.size) await Promise.allSettled(running);
      loaded = false;
    },
    get loaded() {
      return loaded;
    },
    memoryBytes: 0,
    parallel: PARALLEL,
    batch: ONNX_BATCH,
    tokens: {
      encode: (texts, { special, signal }) => ask<Token[][]>({ do: 'encode', model, texts, special }, signal),
      decode: (lists, { skipSpecial, signal }) =>
        ask<(string | undefined)[]>({ do: 'decode', model, lists, skipSpecial }, signal),
      idsOf: (pieces, signal) => ask<(number | undefined)[]>({ do: 'ids', model, pieces }, signal),
    },
    async close() {
      closing.abort(
        problem('ServiceNodeResourceDrainError', { message: 'The server is shutting down', retryAfter: 1 }),
      );
      await Promise.allSettled(running);
    },
  };
  return { backend, ask };
}

/** `row.runs.on` must be `onnx`. */
export function createWorkerEmbedder(row: EmbeddingRow, work: ModelWork): Embedder {
  const { backend, ask } = startBackend(row, work);
  const model = row.id;
  const { towers } = row.runs as Extract<Runs, { on: 'onnx' }>;
  let formats: Promise<MediaFormats> | undefined;
  const parts: Pick<Embedder, 'prepareChunks' | 'media' | 'prepareMedia'> = {
    ...(row.pooling === 'mean' && {
      prepareChunks: (prefix, items, { signal, ...options }) =>
        ask<Prepared[]>({ do: 'chunks', model, prefix, items, ...options }, signal),
    }),
    ...(towers && {
      media() {
        formats ??= ask<MediaFormats>({ do: 'media', model }, new AbortController().signal).catch((error: unknown) => {
          formats = undefined;
          throw error;
        });
        return formats;
      },
      prepareMedia: async (media) => prepareTowerMedia(towers, media),
    }),
  };
  return Object.defineProperties({ ...parts } as Embedder, {
    ...Object.getOwnPropertyDescriptors(backend),
    ...Object.getOwnPropertyDescriptors({
      dimensions: row.dimensions,
      async prepare(texts, { signal, ...options }) {
        signal.throwIfAborted();
        return texts.length ? ask<Prepared[]>({ do: 'prepare', model, texts, ...options }, signal) : [];
      },
      async embed(batch, { signal, output, dimensions }) {
        signal.throwIfAborted();
        return batch.length ? ask<Output[]>({ do: 'embed', model, batch, output, dimensions }, signal) : [];
      },
    } satisfies Pick<Embedder, 'dimensions' | 'prepare' | 'embed'>),
  });
}

/** `row.runs.on` must be `onnx`. */
export function createWorkerReranker(row: RerankRow, work: ModelWork): Reranker {
  const { backend, ask } = startBackend(row, work);
  const model = row.id;
  return Object.assign(backend, {
    prepare: (query, documents, { signal, ...options }) =>
      ask<Awaited<ReturnType<Reranker['prepare']>>>({ do: 'pairs', model, query, documents, ...options }, signal),
    async score(batch, signal) {
      signal.throwIfAborted();
      return batch.length ? ask<Float32Array>({ do: 'score', model, batch }, signal) : new Float32Array();
    },
  } satisfies Pick<Reranker, 'prepare' | 'score'>);
}

/** Availability by the files of the workers. While no worker answers, the last answer counts. */
export function createWorkerAvailability(work: ModelWork, here: AvailabilityCheck): AvailabilityCheck {
  let onWorkers: ReadonlySet<string> = new Set();
  return {
    availability: (row) => (onWorkers.has(row.id) ? 'here' : here.availability(row)),
    async look(rows) {
      await here.look(rows);
      const ids = (await work.run({ do: 'list' }, AbortSignal.timeout(LIST_MS)).catch(() => undefined)) as
        | string[]
        | undefined;
      if (ids) onWorkers = new Set(ids);
    },
  };
}
