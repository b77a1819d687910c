/** Fake models for tests of the layers above a backend. Their results can be computed from the text. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Backend, Embedder, Output, Prepared, Reranker } from '../backend.ts';
import type { EmbeddingRow, RerankRow } from '../registry/catalogue.ts';

const COMMON = {
  hub: '',
  description: 'A model for tests',
  created: 1_700_000_000,
  languages: ['multi'],
  licence: 'Apache-2.0',
  runs: { on: 'onnx', file: 'onnx/model.onnx' },
} as const;

export const fakeRow = (id: string, rest: Partial<EmbeddingRow> = {}): EmbeddingRow => ({
  ...COMMON,
  id,
  name: id,
  does: 'embed',
  kind: 'text-v3',
  contextTokens: 32,
  dimensions: 8,
  matryoshka: [],
  pooling: 'mean',
  normalizes: false,
  prefixes: {},
  ...rest,
});

export const fakeRerankRow = (id: string, rest: Partial<RerankRow> = {}): RerankRow => ({
  ...COMMON,
  id,
  name: id,
  does: 'rerank',
  contextTokens: 16,
  ...rest,
});

export interface FakeOptions {
  /** Duration of each batch. */
  readonly batchMs?: number;
  readonly memoryBytes?: number;
  /** Called before loading, to download the model. */
  readonly onFetch?: () => Promise<void>;
  readonly stamp?: () => string;
  /** Called before each load; may fail or delay it. */
  readonly onLoad?: () => Promise<void> | void;
  /** Called with the texts of each batch. */
  readonly onBatch?: (texts: readonly string[], signal: AbortSignal) => Promise<void> | void;
  readonly batch?: Backend['batch'];
}

/** Counts the words, plus a start and an end token. */
export const fakeTokens = (text: string): number => text.split(/\s+/).filter(Boolean).length + 2;

/** The eight numbers from the example in the API reference, rotated by the text's length so that texts differ. */
export function fakeVector(text: string): number[] {
  const numbers = [0.9, -0.2, 0.4, 0.1, -0.3, 0.5, -0.1, 0.2];
  const by = text === 'example' ? 0 : text.length % numbers.length;
  return [...numbers.slice(by), ...numbers.slice(0, by)];
}

interface Payload {
  readonly text: string;
  readonly items?: readonly string[];
}

function fakeBackend({ memoryBytes = 1_000, onFetch, stamp, onLoad, batch = { tokens: 64, inputs: 16 } }: FakeOptions) {
  const state = { loaded: false };
  const backend: Backend = {
    ...(onFetch && { fetch: onFetch }),
    ...(stamp && { stamp: async () => stamp() }),
    async load() {
      await onLoad?.();
      state.loaded = true;
    },
    async unload() {
      state.loaded = false;
    },
    async close() {
      state.loaded = false;
    },
    get loaded() {
      return state.loaded;
    },
    memoryBytes,
    parallel: 1,
    batch,
  };
  return backend;
}

const textOf = ({ payload }: Prepared) => (payload as Payload).text;

async function runBatch(texts: readonly string[], { batchMs, onBatch }: FakeOptions, signal: AbortSignal) {
  if (batchMs) await sleep(batchMs, undefined, { signal });
  await onBatch?.(texts, signal);
}

export function fakeEmbedder(row: EmbeddingRow, options: FakeOptions = {}): Embedder {
  const prepared = (text: string, maxTokens: number | undefined, rest: Partial<Payload> = {}): Prepared => {
    const fullTokens = fakeTokens(text);
    const tokens = Math.min(fullTokens, maxTokens ?? fullTokens);
    return { tokens, fullTokens, payload: { text, ...rest } satisfies Payload };
  };
  const output = (item: Prepared, kind: string): Output => {
    const { text, items } = item.payload as Payload;
    if (kind === 'sparse') return { values: new Float32Array(), rows: 1, weights: { machin: 1.42, learn: 1.11 } };
    const rows = items ?? (kind === 'tokens' ? text.split(' ') : [text]);
    const values = Float32Array.from(rows.flatMap((part) => fakeVector(items ? `in context: ${part}` : part)));
    return { values, rows: rows.length, ...(kind === 'tokens' && { pieces: rows }) };
  };
  return Object.assign(fakeBackend(options), {
    dimensions: row.dimensions,
    prepare: async (texts: readonly string[], { maxTokens }: { maxTokens?: number | undefined }) =>
      texts.map((text) => prepared(text, maxTokens)),
    prepareChunks: async (
      prefix: string,
      items: readonly string[],
      { maxTokens }: { maxTokens?: number | undefined },
    ) => {
      const windows: string[][] = [[]];
      for (const item of items) {
        const last = windows.at(-1)!;
        const fits = fakeTokens([prefix, ...last, item].join(' ')) <= (maxTokens ?? Number.POSITIVE_INFINITY);
        if (fits || !last.length) last.push(item);
        else windows.push([item]);
      }
      return windows.map((window) => prepared([prefix, ...window].join(' '), maxTokens, { items: window }));
    },
    async embed(batch: readonly Prepared[], { output: kind, signal }: { output: string; signal: AbortSignal }) {
      await runBatch(batch.map(textOf), options, signal);
      return batch.map((item) => output(item, kind));
    },
  });
}

/**
 * The score is the share of the query's words that the document contains. Long documents are split into windows of
 * eight words.
 */
export function fakeReranker(row: RerankRow, options: FakeOptions = {}): Reranker {
  return Object.assign(fakeBackend(options), {
    async prepare(query: string, documents: readonly string[], { maxTokens }: { maxTokens?: number | undefined }) {
      const pairs: Prepared[] = [];
      const positions = documents.map((document) => {
        const fullTokens = fakeTokens(query) + fakeTokens(document);
        const words = document.split(' ');
        const cut = maxTokens !== undefined && fullTokens > row.contextTokens;
        const windows = cut
          ? Array.from({ length: Math.ceil(words.length / 8) }, (_, at) => words.slice(at * 8, at * 8 + 8).join(' '))
          : [document];
        return windows.map((window) => {
          const tokens = fakeTokens(query) + fakeTokens(window);
          return (
            pairs.push({ tokens, fullTokens: cut ? tokens : fullTokens, payload: { text: `${query}\n${window}` } }) - 1
          );
        });
      });
      return { pairs, documents: positions };
    },
    async score(batch: readonly Prepared[], signal: AbortSignal) {
      await runBatch(batch.map(textOf), options, signal);
      return Float32Array.from(batch, (item) => {
        const [query = '', document = ''] = textOf(item).split('\n');
        const words = query.split(' ');
        return words.filter((word) => document.split(' ').includes(word)).length / words.length;
      });
    },
  });
}
