/** Parts that rows have in common. Rows contain data from model cards and configurations. */
import type { EmbeddingRow, RerankRow, Runs } from '../catalogue.ts';

export const day = (year: number, month: number, date: number) => Date.UTC(year, month - 1, date) / 1000;
export const megabytes = (count: number) => count * 1_000_000;

export type OnnxRuns = Extract<Runs, { on: 'onnx' }>;

export const GRAPH = 'onnx/model.onnx';
export const graph = (approximateMegabytes: number, rest: Partial<OnnxRuns> = {}): OnnxRuns => ({
  on: 'onnx',
  file: GRAPH,
  bytes: megabytes(approximateMegabytes),
  ...rest,
});

type Common = 'does' | 'kind' | 'matryoshka' | 'pooling' | 'normalizes' | 'prefixes';
export const encoder = (row: Omit<EmbeddingRow, Common> & Partial<Pick<EmbeddingRow, Common>>): EmbeddingRow => ({
  does: 'embed',
  kind: 'text-v2',
  matryoshka: [],
  pooling: 'mean',
  normalizes: true,
  prefixes: {},
  ...row,
});

/** Prompts of a model that has a prompt only for queries. */
export const asking = (query: string) => ({ query, passage: '', default: '' });
export const REPRESENT = 'Represent this sentence for searching relevant passages: ';

export const reranker = (row: Omit<RerankRow, 'does'>): RerankRow => ({ does: 'rerank', ...row });

/** The quantized graph of a file, as the hub's exports name it. */
export const quantizedOf = (file: string) => file.replace('.onnx', '_quantized.onnx');
export const QUANTIZED = quantizedOf(GRAPH);

/** Graphs with their weights in a second file. */
export const withWeights = (...graphs: readonly string[]): Record<string, string[]> =>
  Object.fromEntries(graphs.map((file) => [file, [`${file}_data`]]));
