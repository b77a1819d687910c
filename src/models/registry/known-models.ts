/**
 * Known models that can run on this machine, with data from their model cards and configurations: repository, graph,
 * prompts, pooling, context, dimensions and licence.
 */

import { clipRule, jinaClipRule, type PictureRule, siglipRule } from '../media/picture-rule.ts';
import { CLAP_RULE } from '../media/sound.ts';
import type { EmbeddingRow, ModelRow, RerankRow, Runs } from './catalogue.ts';

const day = (year: number, month: number, date: number) => Date.UTC(year, month - 1, date) / 1000;
const megabytes = (count: number) => count * 1_000_000;

type OnnxRuns = Extract<Runs, { on: 'onnx' }>;

const GRAPH = 'onnx/model.onnx';
const graph = (approximateMegabytes: number, rest: Partial<OnnxRuns> = {}): OnnxRuns => ({
  on: 'onnx',
  file: GRAPH,
  bytes: megabytes(approximateMegabytes),
  ...rest,
});

type Common = 'does' | 'kind' | 'matryoshka' | 'pooling' | 'normalizes' | 'prefixes';
const encoder = (row: Omit<EmbeddingRow, Common> & Partial<Pick<EmbeddingRow, Common>>): EmbeddingRow => ({
  does: 'embed',
  kind: 'text-v2',
  matryoshka: [],
  pooling: 'mean',
  normalizes: true,
  prefixes: {},
  ...row,
});

/** Prompts of a model that has a prompt only for queries. */
const asking = (query: string) => ({ query, passage: '', default: '' });
const REPRESENT = 'Represent this sentence for searching relevant passages: ';

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

const EMBEDDERS: readonly EmbeddingRow[] = [
  encoder({
    id: 'multilingual-e5-small',
    hub: 'intfloat/multilingual-e5-small',
    name: 'Multilingual E5 small',
    description: 'About 100 languages, 384 dimensions. Recommended if a download is possible',
    created: day(2023, 6, 30),
    contextTokens: 512,
    languages: ['multi'],
    licence: 'MIT',
    kind: 'text-v3',
    dimensions: 384,
    prefixes: { query: 'query: ', passage: 'passage: ', default: 'query: ' },
    runs: graph(470, { quantized: 'onnx/model_qint8_avx512_vnni.onnx' }),
  }),
  encoder({
    id: 'bge-small-en-v1.5',
    hub: 'BAAI/bge-small-en-v1.5',
    name: 'BGE small English 1.5',
    description: 'English retrieval, 384 dimensions',
    created: day(2023, 9, 12),
    contextTokens: 512,
    languages: ['en'],
    licence: 'MIT',
    kind: 'text-v3',
    dimensions: 384,
    pooling: 'cls',
    prefixes: asking(REPRESENT),
    runs: graph(133),
  }),
  encoder({
    id: 'all-MiniLM-L6-v2',
    hub: 'sentence-transformers/all-MiniLM-L6-v2',
    name: 'All MiniLM L6 2',
    description: 'English sentences, 384 dimensions, small and fast',
    created: day(2021, 8, 30),
    contextTokens: 256,
    languages: ['en'],
    licence: 'Apache-2.0',
    dimensions: 384,
    runs: graph(90, { quantized: 'onnx/model_qint8_avx512_vnni.onnx' }),
  }),
  encoder({
    id: 'snowflake-arctic-embed-s',
    hub: 'Snowflake/snowflake-arctic-embed-s',
    name: 'Arctic Embed S',
    description: 'English retrieval, 384 dimensions',
    created: day(2024, 4, 12),
    contextTokens: 512,
    languages: ['en'],
    licence: 'Apache-2.0',
    kind: 'text-v3',
    dimensions: 384,
    pooling: 'cls',
    prefixes: asking(REPRESENT),
    runs: graph(133, { quantized: 'onnx/model_quantized.onnx' }),
  }),
  encoder({
    id: 'mdbr-leaf-ir',
    hub: 'MongoDB/mdbr-leaf-ir',
    name: 'Leaf IR',
    description: 'English retrieval with a small encoder, 768 dimensions, can be shortened',
    created: day(2025, 8, 27),
    contextTokens: 512,
    languages: ['en'],
    licence: 'Apache-2.0',
    kind: 'text-v3',
    dimensions: 768,
    matryoshka: [64, 128, 256, 512, 768],
    // The graph includes the dense layer that follows the mean, so its own pooled output is used.
    pooling: 'none',
    prefixes: asking(REPRESENT),
    runs: graph(92, { quantized: 'onnx/model_quantized.onnx' }),
  }),
  encoder({
    id: 'granite-embedding-small-english-r2',
    hub: 'ibm-granite/granite-embedding-small-english-r2',
    name: 'Granite Embedding small English R2',
    description: 'English retrieval over long texts, 384 dimensions',
    created: day(2025, 8, 15),
    contextTokens: 8_192,
    languages: ['en'],
    licence: 'Apache-2.0',
    dimensions: 384,
    pooling: 'cls',
    runs: graph(191, {
      repository: 'onnx-community/granite-embedding-small-english-r2-ONNX',
      quantized: 'onnx/model_quantized.onnx',
    }),
  }),
  encoder({
    id: 'embeddinggemma-300m',
    hub: 'google/embeddinggemma-300m',
    name: 'EmbeddingGemma 300M',
    description: 'About 100 languages, 768 dimensions, can be shortened',
    created: day(2025, 9, 4),
    contextTokens: 2_048,
    languages: ['multi'],
    licence: 'Gemma Terms of Use',
    kind: 'text-v5',
    dimensions: 768,
    matryoshka: [128, 256, 512, 768],
    pooling: 'none',
    prefixes: {
      query: 'task: search result | query: ',
      passage: 'title: none | text: ',
      'text-matching': 'task: sentence similarity | query: ',
      clustering: 'task: clustering | query: ',
      classification: 'task: classification | query: ',
      default: 'task: sentence similarity | query: ',
    },
    runs: graph(1_235, {
      repository: 'onnx-community/embeddinggemma-300m-ONNX',
      quantized: 'onnx/model_quantized.onnx',
      data: {
        [GRAPH]: ['onnx/model.onnx_data'],
        'onnx/model_quantized.onnx': ['onnx/model_quantized.onnx_data'],
      },
    }),
  }),
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
];

const TEXT_TOWER = 'onnx/text_model.onnx';
const quantizedOf = (file: string) => file.replace('.onnx', '_quantized.onnx');

/** A text graph and an image graph. Images are cut into squares of `patch` pixels. */
const imageTowers = (
  rule: PictureRule,
  patch: number,
  rest: Partial<OnnxRuns> & Pick<OnnxRuns, 'bytes'>,
): OnnxRuns => ({
  on: 'onnx',
  file: TEXT_TOWER,
  quantized: quantizedOf(TEXT_TOWER),
  towers: {
    image: {
      file: 'onnx/vision_model.onnx',
      quantized: 'onnx/vision_model_quantized.onnx',
      rule,
      tokens: Math.floor(rule.width / patch) * Math.floor(rule.height / patch),
    },
  },
  ...rest,
});

/** Multimodal models whose graphs output pooled vectors. */
const towered = (row: Parameters<typeof encoder>[0]): EmbeddingRow =>
  encoder({ kind: 'omni-v5', pooling: 'none', normalizes: false, ...row });

const JINA_CLIP_V2_GRAPH = 'onnx/model.onnx';

const MULTIMODAL: readonly EmbeddingRow[] = [
  towered({
    id: 'jina-clip-v1',
    hub: 'jinaai/jina-clip-v1',
    name: 'Jina CLIP v1',
    description: 'English texts of up to 8,192 tokens and images in one space, 768 dimensions',
    created: day(2024, 6, 5),
    contextTokens: 8_192,
    languages: ['en'],
    licence: 'Apache-2.0',
    kind: 'clip-v1',
    dimensions: 768,
    runs: imageTowers(jinaClipRule(224), 16, { bytes: megabytes(890) }),
  }),
  towered({
    id: 'jina-clip-v2',
    hub: 'jinaai/jina-clip-v2',
    name: 'Jina CLIP v2',
    description: 'Texts in about 90 languages and images in one space, 1,024 dimensions, can be shortened',
    created: day(2024, 11, 21),
    contextTokens: 8_192,
    languages: ['multi'],
    licence: 'CC-BY-NC-4.0',
    kind: 'clip-v2',
    dimensions: 1_024,
    matryoshka: [64, 128, 256, 512, 768, 1_024],
    prefixes: asking('Represent the query for retrieving evidence documents: '),
    // One graph contains both encoders.
    runs: {
      on: 'onnx',
      file: JINA_CLIP_V2_GRAPH,
      quantized: quantizedOf(JINA_CLIP_V2_GRAPH),
      bytes: megabytes(3_460),
      data: { [JINA_CLIP_V2_GRAPH]: ['onnx/model.onnx_data'] },
      towers: {
        image: {
          file: JINA_CLIP_V2_GRAPH,
          quantized: quantizedOf(JINA_CLIP_V2_GRAPH),
          rule: jinaClipRule(512),
          tokens: 36 * 36,
        },
      },
    },
  }),
  towered({
    id: 'clip-vit-base-patch32',
    hub: 'openai/clip-vit-base-patch32',
    name: 'CLIP ViT-B/32',
    description: 'Short English texts and images in one space, 512 dimensions, small and fast',
    created: day(2021, 1, 5),
    contextTokens: 77,
    languages: ['en'],
    licence: 'MIT',
    dimensions: 512,
    runs: imageTowers(clipRule(224), 32, { bytes: megabytes(606), repository: 'Xenova/clip-vit-base-patch32' }),
  }),
  towered({
    id: 'clip-vit-large-patch14',
    hub: 'openai/clip-vit-large-patch14',
    name: 'CLIP ViT-L/14',
    description: 'Short English texts and images in one space, 768 dimensions',
    created: day(2022, 1, 24),
    contextTokens: 77,
    languages: ['en'],
    licence: 'MIT',
    dimensions: 768,
    runs: imageTowers(clipRule(224), 14, { bytes: megabytes(1_710), repository: 'Xenova/clip-vit-large-patch14' }),
  }),
  towered({
    id: 'siglip-base-patch16-224',
    hub: 'google/siglip-base-patch16-224',
    name: 'SigLIP base 224',
    description: 'Short English texts and images in one space, 768 dimensions',
    created: day(2024, 1, 8),
    contextTokens: 64,
    languages: ['en'],
    licence: 'Apache-2.0',
    dimensions: 768,
    runs: imageTowers(siglipRule(224), 16, {
      bytes: megabytes(813),
      repository: 'Xenova/siglip-base-patch16-224',
      // The vector is always taken from the last of the 64 positions.
      textTokens: 64,
    }),
  }),
  towered({
    id: 'clap-htsat-unfused',
    hub: 'laion/clap-htsat-unfused',
    name: 'CLAP HTSAT unfused',
    description:
      'English descriptions of sounds, and sounds, in one space, 512 dimensions. It does not understand speech',
    created: day(2023, 2, 16),
    contextTokens: 512,
    languages: ['en'],
    licence: 'Apache-2.0',
    dimensions: 512,
    spaces: { text: 'clap', audio: 'clap' },
    runs: {
      on: 'onnx',
      repository: 'Xenova/clap-htsat-unfused',
      file: TEXT_TOWER,
      quantized: quantizedOf(TEXT_TOWER),
      bytes: megabytes(620),
      towers: {
        audio: {
          file: 'onnx/audio_model.onnx',
          quantized: 'onnx/audio_model_quantized.onnx',
          rule: CLAP_RULE,
          // Number of positions in the last layer for ten seconds of audio.
          tokens: 64,
        },
      },
    },
  }),
];

const reranker = (row: Omit<RerankRow, 'does'>): RerankRow => ({ does: 'rerank', ...row });

const RERANKERS: readonly RerankRow[] = [
  reranker({
    id: 'ms-marco-MiniLM-L-6-v2',
    hub: 'cross-encoder/ms-marco-MiniLM-L-6-v2',
    name: 'MS MARCO MiniLM L6 2',
    description: 'English passages, small and fast',
    created: day(2021, 4, 15),
    contextTokens: 512,
    languages: ['en'],
    licence: 'Apache-2.0',
    runs: graph(91, { repository: 'Xenova/ms-marco-MiniLM-L-6-v2', quantized: 'onnx/model_quantized.onnx' }),
  }),
  reranker({
    id: 'jina-reranker-v1-turbo-en',
    hub: 'jinaai/jina-reranker-v1-turbo-en',
    name: 'Reranker v1 turbo English',
    description: 'English documents of up to 8,192 tokens, six layers',
    created: day(2024, 4, 15),
    contextTokens: 8_192,
    languages: ['en'],
    licence: 'Apache-2.0',
    runs: graph(151, { quantized: 'onnx/model_quantized.onnx' }),
  }),
  reranker({
    id: 'jina-reranker-v1-tiny-en',
    hub: 'jinaai/jina-reranker-v1-tiny-en',
    name: 'Reranker v1 tiny English',
    description: 'English documents of up to 8,192 tokens, four layers',
    created: day(2024, 4, 15),
    contextTokens: 8_192,
    languages: ['en'],
    licence: 'Apache-2.0',
    runs: graph(132, { quantized: 'onnx/model_quantized.onnx' }),
  }),
  reranker({
    id: 'bge-reranker-base',
    hub: 'BAAI/bge-reranker-base',
    name: 'BGE Reranker base',
    description: 'Chinese and English passages',
    created: day(2023, 9, 11),
    contextTokens: 512,
    languages: ['zh', 'en'],
    licence: 'MIT',
    runs: graph(1_112),
  }),
  reranker({
    id: 'mxbai-rerank-xsmall-v1',
    hub: 'mixedbread-ai/mxbai-rerank-xsmall-v1',
    name: 'Mxbai Rerank xsmall 1',
    description: 'English passages',
    created: day(2024, 2, 29),
    contextTokens: 512,
    languages: ['en'],
    licence: 'Apache-2.0',
    runs: graph(284, { quantized: 'onnx/model_quantized.onnx' }),
  }),
  reranker({
    id: 'jina-reranker-v2-base-multilingual',
    hub: 'jinaai/jina-reranker-v2-base-multilingual',
    name: 'Reranker v2 base multilingual',
    description: 'About 100 languages, windows of 1,024 tokens',
    created: day(2024, 6, 25),
    contextTokens: 1_024,
    languages: ['multi'],
    licence: 'CC-BY-NC-4.0',
    runs: graph(1_112, { quantized: 'onnx/model_quantized.onnx' }),
  }),
];

export const KNOWN_MODELS: readonly ModelRow[] = [...EMBEDDERS, ...MULTIMODAL, ...RERANKERS];

/** Whether the licence forbids commercial use. Shown before a download and in every list. */
export const isNonCommercial = (licence: string): boolean => /\bNC\b|non-?commercial/i.test(licence);

/**
 * Returns the row with the model's quantized graph, if there is one. That graph is a quarter of the size and slightly
 * less accurate.
 */
export function inPrecision<Row extends ModelRow>(row: Row, precision: 'full' | 'quantized'): Row {
  const { runs } = row;
  if (precision === 'full' || runs.on !== 'onnx' || !runs.quantized) return row;
  const { towers } = runs;
  const inTower = <Tower extends { file: string; quantized?: string | undefined }>(tower: Tower): Tower =>
    tower.quantized === undefined ? tower : { ...tower, file: tower.quantized };
  return {
    ...row,
    runs: {
      ...runs,
      file: runs.quantized,
      bytes: undefined,
      ...(towers && {
        towers: {
          ...(towers.image && { image: inTower(towers.image) }),
          ...(towers.audio && { audio: inTower(towers.audio) }),
        },
      }),
    },
  };
}
