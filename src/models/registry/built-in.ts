/** The models included in the package. */
import type { ModelRow } from './catalogue.ts';

const COMMON = {
  hub: '',
  created: Date.UTC(2026, 10, 21) / 1000,
  // The model itself has no length limit. This value bounds the cost of an input; it is typical of models of this kind.
  contextTokens: 8_192,
  languages: ['en', 'multi'],
  licence: 'Apache-2.0',
  runs: { on: 'static' },
} as const;

export const BUILT_IN_MODELS: readonly ModelRow[] = [
  {
    ...COMMON,
    id: 'lectern-static-v1',
    name: 'Lectern static v1',
    description:
      'Built in: word vectors that need no network and no runtime. Well below the quality of a transformer. Trained on English; other scripts are matched by spelling',
    does: 'embed',
    kind: 'text-v3',
    dimensions: 1_024,
    matryoshka: [1_024, 256, 128, 64],
    pooling: 'mean',
    normalizes: true,
    prefixes: {},
  },
  {
    ...COMMON,
    id: 'lectern-static-rerank-v1',
    name: 'Lectern static reranker v1',
    description: 'Built in: BM25 over words and over similar words by lectern-static-v1',
    does: 'rerank',
  },
];
