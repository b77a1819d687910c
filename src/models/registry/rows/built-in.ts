/** The models included in the package. */
import type { ModelRow } from '../catalogue.ts';

const COMMON = {
  hub: '',
  created: Date.UTC(2026, 10, 22) / 1000,
  // The model itself has no length limit. This value bounds the cost of an input; it is typical of models of this kind.
  contextTokens: 8_192,
  languages: ['multi'],
  licence: 'Apache-2.0',
  runs: { on: 'static' },
} as const;

/** Names of built-in models of earlier versions, with the models that replaced them. */
export const REPLACED_MODELS: ReadonlyMap<string, string> = new Map([
  ['lectern-static-v1', 'lectern-static-v2'],
  ['lectern-static-rerank-v1', 'lectern-static-rerank-v2'],
]);

export const BUILT_IN_MODELS: readonly ModelRow[] = [
  {
    ...COMMON,
    id: 'lectern-static-v2',
    name: 'Lectern static v2',
    description:
      'Built in: word vectors for about forty languages that need no network and no runtime. Below the quality of a transformer',
    does: 'embed',
    kind: 'text-v3',
    dimensions: 1_024,
    matryoshka: [1_024, 512, 256, 128],
    pooling: 'mean',
    normalizes: true,
    prefixes: {},
  },
  {
    ...COMMON,
    id: 'lectern-static-rerank-v2',
    name: 'Lectern static reranker v2',
    description: 'Built in: BM25 over words, their parts, and similar words by lectern-static-v2',
    does: 'rerank',
  },
];
