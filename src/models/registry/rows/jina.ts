/** Embedding models for texts by Jina AI. */
import type { EmbeddingRow } from '../catalogue.ts';
import { day, encoder, GRAPH, graph, type OnnxRuns, QUANTIZED, withWeights } from './row.ts';

/** Mean pooling, as documented by the authors of version 2; the graph does not normalize. */
const jinaV2 = (
  row: Pick<EmbeddingRow, 'id' | 'name' | 'description' | 'created' | 'languages' | 'dimensions'> & {
    readonly runs: OnnxRuns;
  },
): EmbeddingRow =>
  encoder({
    ...row,
    hub: `jinaai/${row.id}`,
    contextTokens: 8_192,
    licence: 'Apache-2.0',
    normalizes: false,
  });

/**
 * The repositories of version 5 have one graph per adapter. That of retrieval serves all tasks here, because vectors of
 * different adapters cannot be compared.
 */
const jinaV5 = ({
  approximateMegabytes,
  ...row
}: Pick<EmbeddingRow, 'id' | 'name' | 'description' | 'dimensions' | 'contextTokens'> & {
  readonly approximateMegabytes: number;
}): EmbeddingRow =>
  encoder({
    ...row,
    hub: `jinaai/${row.id}`,
    created: day(2026, 2, 18),
    languages: ['multi'],
    licence: 'CC-BY-NC-4.0',
    documentedIn: 'model card; downloads by users of the graph',
    kind: 'text-v5',
    matryoshka: [32, 64, 128, 256, 512, 768, 1_024].filter((size) => size <= row.dimensions),
    pooling: 'last',
    prefixes: { query: 'Query: ', passage: 'Document: ', default: 'Document: ' },
    runs: graph(approximateMegabytes, {
      repository: `jinaai/${row.id}-retrieval`,
      quantized: QUANTIZED,
      data: withWeights(GRAPH, QUANTIZED),
    }),
  });

export const JINA_MODELS: readonly EmbeddingRow[] = [
  jinaV2({
    id: 'jina-embeddings-v2-small-en',
    name: 'Embeddings v2 small English',
    description: 'English texts of up to 8,192 tokens, 512 dimensions',
    created: day(2023, 9, 27),
    languages: ['en'],
    dimensions: 512,
    runs: graph(130, { repository: 'Xenova/jina-embeddings-v2-small-en', quantized: 'onnx/model_quantized.onnx' }),
  }),
  jinaV2({
    id: 'jina-embeddings-v2-base-en',
    name: 'Embeddings v2 base English',
    description: 'English texts of up to 8,192 tokens, 768 dimensions',
    created: day(2023, 9, 27),
    languages: ['en'],
    dimensions: 768,
    runs: graph(547, { repository: 'Xenova/jina-embeddings-v2-base-en', quantized: 'onnx/model_quantized.onnx' }),
  }),
  jinaV2({
    id: 'jina-embeddings-v2-base-de',
    name: 'Embeddings v2 base German and English',
    description: 'German and English texts of up to 8,192 tokens, 768 dimensions',
    created: day(2024, 1, 12),
    languages: ['de', 'en'],
    dimensions: 768,
    runs: graph(642, { repository: 'Xenova/jina-embeddings-v2-base-de', quantized: 'onnx/model_quantized.onnx' }),
  }),
  jinaV2({
    id: 'jina-embeddings-v2-base-es',
    name: 'Embeddings v2 base Spanish and English',
    description: 'Spanish and English texts of up to 8,192 tokens, 768 dimensions',
    created: day(2024, 1, 25),
    languages: ['es', 'en'],
    dimensions: 768,
    runs: graph(642),
  }),
  jinaV2({
    id: 'jina-embeddings-v2-base-zh',
    name: 'Embeddings v2 base Chinese and English',
    description: 'Chinese and English texts of up to 8,192 tokens, 768 dimensions',
    created: day(2024, 1, 10),
    languages: ['zh', 'en'],
    dimensions: 768,
    runs: graph(641, { repository: 'Xenova/jina-embeddings-v2-base-zh', quantized: 'onnx/model_quantized.onnx' }),
  }),
  jinaV2({
    id: 'jina-embeddings-v2-base-code',
    name: 'Embeddings v2 base code',
    description: 'Source code and English texts of up to 8,192 tokens, 768 dimensions',
    created: day(2024, 2, 5),
    languages: ['en'],
    dimensions: 768,
    runs: graph(642),
  }),
  encoder({
    id: 'jina-embeddings-v3',
    hub: 'jinaai/jina-embeddings-v3',
    name: 'Embeddings v3',
    description: 'About 100 languages, 1,024 dimensions, can be shortened, one adapter per task',
    created: day(2024, 9, 18),
    contextTokens: 8_192,
    languages: ['multi'],
    licence: 'CC-BY-NC-4.0',
    kind: 'text-v3',
    dimensions: 1_024,
    matryoshka: [32, 64, 128, 256, 512, 768, 1_024],
    prefixes: {
      query: 'Represent the query for retrieving evidence documents: ',
      passage: 'Represent the document for retrieval: ',
      default: '',
    },
    runs: graph(2_290, {
      data: { [GRAPH]: ['onnx/model.onnx_data'] },
      // The adapters have the same order as `lora_adaptations` in the model's configuration. The graph cannot bypass
      // its adapters, so the text-matching adapter is the default.
      taskIds: {
        'retrieval.query': 0,
        'retrieval.passage': 1,
        separation: 2,
        classification: 3,
        'text-matching': 4,
        default: 4,
      },
    }),
  }),
  jinaV5({
    id: 'jina-embeddings-v5-text-nano',
    name: 'Embeddings v5 text nano',
    description: 'Retrieval in many languages, 768 dimensions, can be shortened; one adapter for all tasks',
    dimensions: 768,
    contextTokens: 8_192,
    approximateMegabytes: 960,
  }),
  jinaV5({
    id: 'jina-embeddings-v5-text-small',
    name: 'Embeddings v5 text small',
    description: 'Retrieval in over 100 languages, 1,024 dimensions, can be shortened; one adapter for all tasks',
    dimensions: 1_024,
    contextTokens: 32_768,
    approximateMegabytes: 2_390,
  }),
];
