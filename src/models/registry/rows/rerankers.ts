/** Rerankers: cross-encoders, and language models that judge one document at a time. */
import type { Judge, RerankRow } from '../catalogue.ts';
import { day, graph, QUANTIZED, reranker } from './row.ts';

/**
 * The models read 32,768 tokens, but their graphs may return the logits of a whole vocabulary for each token, some
 * 600 kB. Longer documents are read in windows.
 */
const WINDOW_TOKENS = 2_048;

/** The prompt of the model card, with its default instruction. */
const QWEN3_JUDGE: Judge = {
  before:
    '<|im_start|>system\nJudge whether the Document meets the requirements based on the Query and the Instruct provided. ' +
    'Note that the answer can only be "yes" or "no".<|im_end|>\n<|im_start|>user\n',
  query: '<Instruct>: Given a web search query, retrieve relevant passages that answer the query\n<Query>: ',
  between: '\n<Document>:',
  document: ' ',
  after: '<|im_end|>\n<|im_start|>assistant\n<think>\n\n</think>\n\n',
  yes: 'yes',
  no: 'no',
};

/** The prompt of the authors' package, which also subtracts half of the largest difference that it expects. */
const MXBAI_JUDGE: Judge = {
  before:
    '<|im_start|>system\nYou are Qwen, created by Alibaba Cloud. You are a helpful assistant.<|im_end|>\n' +
    '<|im_start|>user\n',
  query: 'query: ',
  between: '',
  document: '\ndocument: ',
  after:
    '\nYou are a search relevance expert who evaluates how well documents match search queries. For each ' +
    'query-document pair, carefully analyze the semantic relationship between them, then provide your binary ' +
    'relevance judgment (0 for not relevant, 1 for relevant).\nRelevance:<|im_end|>\n<|im_start|>assistant\n',
  yes: '1',
  no: '0',
  midpoint: 4.5,
};

export const RERANKERS: readonly RerankRow[] = [
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
  reranker({
    id: 'gte-reranker-modernbert-base',
    hub: 'Alibaba-NLP/gte-reranker-modernbert-base',
    name: 'GTE Reranker ModernBERT base',
    description: 'English documents of up to 8,192 tokens',
    created: day(2025, 1, 21),
    contextTokens: 8_192,
    languages: ['en'],
    licence: 'Apache-2.0',
    documentedIn: 'model card; file list of the repository',
    runs: graph(599, { quantized: QUANTIZED }),
  }),
  reranker({
    id: 'gte-multilingual-reranker-base',
    hub: 'Alibaba-NLP/gte-multilingual-reranker-base',
    name: 'GTE Multilingual Reranker base',
    description: 'Over 70 languages, documents of up to 8,192 tokens',
    created: day(2024, 7, 20),
    contextTokens: 8_192,
    languages: ['multi'],
    licence: 'Apache-2.0',
    documentedIn: 'model card; downloads by users of the ONNX repository',
    runs: graph(1_220, { repository: 'onnx-community/gte-multilingual-reranker-base', quantized: QUANTIZED }),
  }),
  reranker({
    id: 'Qwen3-Reranker-0.6B',
    hub: 'Qwen/Qwen3-Reranker-0.6B',
    name: 'Qwen3 Reranker 0.6B',
    description: 'Over 100 languages and code, windows of 2,048 tokens; a language model',
    created: day(2025, 6, 5),
    contextTokens: WINDOW_TOKENS,
    languages: ['multi'],
    licence: 'Apache-2.0',
    documentedIn: 'model card; card of the ONNX repository, which has only quantized graphs',
    runs: graph(600, { repository: 'onnx-community/Qwen3-Reranker-0.6B-ONNX', file: QUANTIZED, judge: QWEN3_JUDGE }),
  }),
  reranker({
    id: 'mxbai-rerank-base-v2',
    hub: 'mixedbread-ai/mxbai-rerank-base-v2',
    name: 'Mxbai Rerank base 2',
    description: 'Over 100 languages and code, windows of 2,048 tokens; a language model',
    created: day(2025, 3, 13),
    contextTokens: WINDOW_TOKENS,
    languages: ['multi'],
    licence: 'Apache-2.0',
    documentedIn: 'model card; code of the package mxbai-rerank',
    runs: graph(1_980, { unpublished: true, judge: MXBAI_JUDGE }),
  }),
];
