/**
 * Backends of the built-in models. They run in the server's own process: a short text takes microseconds, and long
 * texts are processed in steps that yield to the event loop.
 */

import { createYielder } from '#concurrency/yielder.ts';
import { problem } from '#errors.ts';
import type { Backend, Embedder, Output, Prepared, PrepareOptions, Reranker } from '../backend.ts';
import { LEARNED, loadStaticModel, type StaticModel, WHOLE } from './model.ts';
import type { ReadText } from './reading.ts';
import { createStaticScorer, type PreparedPair, type StaticScorer } from './score.ts';
import { createStaticTokens } from './static-tokens.ts';

export interface StaticBackends {
  readonly embedder: Embedder;
  readonly reranker: Reranker;
}

/** The embedder and the reranker share one copy of the model, which is freed when both are unloaded. */
export function createStaticBackends(): StaticBackends {
  const users = new Set<'embedder' | 'reranker'>();
  let model: Promise<StaticModel> | undefined;
  const backend = (user: 'embedder' | 'reranker') => {
    let bytes = 0;
    const get = async (): Promise<StaticModel> => {
      users.add(user);
      model ??= loadStaticModel();
      try {
        const loaded = await model;
        bytes = loaded.bytes;
        return loaded;
      } catch (error) {
        model = undefined;
        users.delete(user);
        throw error;
      }
    };
    const unload = async () => {
      users.delete(user);
      bytes = 0;
      if (users.size === 0) model = undefined;
    };
    return {
      get,
      own: {
        load: async () => {
          await get();
        },
        unload,
        get loaded() {
          return bytes > 0;
        },
        get memoryBytes() {
          return bytes;
        },
        parallel: 1,
        tokens: createStaticTokens(get),
        batch: { tokens: 1_000_000, inputs: 2_048 },
        close: unload,
      } satisfies Backend,
    };
  };
  return { embedder: createEmbedder(backend('embedder')), reranker: createReranker(backend('reranker')) };
}

interface Shared {
  get(): Promise<StaticModel>;
  readonly own: Backend;
}

function createEmbedder({ get, own }: Shared): Embedder {
  return extended(own, {
    dimensions: WHOLE,
    async prepare(texts: readonly string[], { maxTokens, signal }: PrepareOptions) {
      const { reader } = await get();
      const yieldIfDue = createYielder(signal);
      const prepared: Prepared[] = [];
      for (const text of texts) {
        const { kept, fullTokens } = await reader.read(text, { maxTokens, yieldIfDue });
        prepared.push({ tokens: kept.ids.length, fullTokens, payload: kept satisfies ReadText });
        const pause = yieldIfDue();
        if (pause) await pause;
      }
      return prepared;
    },
    async embed(batch: readonly Prepared[], { dimensions, output, signal }: Parameters<Embedder['embed']>[1]) {
      if (output !== 'pooled') {
        throw problem('ParamValidationError', { message: 'The built-in model only supports one vector per text' });
      }
      const model = await get();
      const yieldIfDue = createYielder(signal);
      const outputs: Output[] = [];
      for (const { payload } of batch) {
        const text = payload as ReadText;
        // The first 256 dimensions are the learned part; computing them alone is faster.
        const values =
          dimensions <= LEARNED ? model.learned(text.ids, dimensions) : await model.whole(text, yieldIfDue);
        outputs.push({ values, rows: 1 });
        const pause = yieldIfDue();
        if (pause) await pause;
      }
      return outputs;
    },
  });
}

function createReranker({ get, own }: Shared): Reranker {
  let scorer: { readonly model: StaticModel; readonly scorer: StaticScorer } | undefined;
  const scorerOf = async (): Promise<StaticScorer> => {
    const model = await get();
    if (scorer?.model !== model) scorer = { model, scorer: createStaticScorer(model) };
    return scorer.scorer;
  };
  return extended(own, {
    prepare: async (query: string, documents: readonly string[], { maxTokens, signal }: PrepareOptions) =>
      (await scorerOf()).prepare(query, documents, maxTokens, createYielder(signal)),
    async score(batch: readonly Prepared[], signal: AbortSignal) {
      const { score } = await scorerOf();
      const yieldIfDue = createYielder(signal);
      const scores = new Float32Array(batch.length);
      for (const [at, { payload }] of batch.entries()) {
        scores[at] = score(payload as PreparedPair);
        const pause = yieldIfDue();
        if (pause) await pause;
      }
      return scores;
    },
    async unload() {
      scorer = undefined;
      await own.unload();
    },
    async close() {
      scorer = undefined;
      await own.close();
    },
  });
}

/** Adds properties to a backend without evaluating its getters. */
function extended<More extends object>(own: Backend, more: More): Omit<Backend, keyof More> & More {
  return Object.defineProperties(
    {},
    {
      ...Object.getOwnPropertyDescriptors(own),
      ...Object.getOwnPropertyDescriptors(more),
    },
  ) as Omit<Backend, keyof More> & More;
}
