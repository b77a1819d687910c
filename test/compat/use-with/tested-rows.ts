/** Published clients that tests of their own run, unmodified. */
import { ORIGIN, type TestedRow } from './row.ts';

const FIRECRAWL = 'test/clients/firecrawl-clients.test.ts';
const MODELS = 'test/clients/model-dialects.test.ts';
const DOCUMENTS = 'test/clients/documents.test.ts';

export const TESTED_ROWS: readonly TestedRow[] = [
  {
    ...{ program: '@mendable/firecrawl-js', setting: 'apiUrl', value: ORIGIN, test: FIRECRAWL },
    call: 'scrape, batches, crawls with polling and WebSocket, map, search, parse',
  },
  {
    ...{ program: 'LangChain (@langchain/community)', setting: 'apiUrl', value: ORIGIN, test: FIRECRAWL },
    call: 'FireCrawlLoader',
  },
  {
    ...{ program: 'LlamaIndex (@llamaindex/ollama)', setting: 'host', value: ORIGIN, test: MODELS },
    call: 'embeddings',
  },
  { ...{ program: 'ollama', setting: 'host', value: ORIGIN, test: MODELS }, call: 'embed, list, show' },
  {
    ...{ program: 'cohere-ai', setting: 'environment', value: ORIGIN, test: MODELS },
    call: 'embed, rerank (versions 1 and 2)',
  },
  { ...{ program: 'voyageai', setting: 'environment', value: `${ORIGIN}/v1`, test: MODELS }, call: 'embed, rerank' },
  {
    ...{ program: 'openai', setting: 'baseURL', value: `${ORIGIN}/v1`, test: MODELS },
    call: 'embeddings, files, batches',
  },
  {
    ...{ program: '@huggingface/inference', setting: 'endpoint', value: `${ORIGIN}/for/tei/MODEL`, test: MODELS },
    call: 'feature extraction',
  },
  {
    ...{ program: 'LangChain (@langchain/ollama)', setting: 'baseUrl', value: ORIGIN, test: MODELS },
    call: 'OllamaEmbeddings',
  },
  {
    ...{ program: 'LangChain (@langchain/cohere)', setting: 'client', value: 'a client of cohere-ai', test: MODELS },
    call: 'CohereEmbeddings, CohereRerank',
  },
  { ...{ program: '@mistralai/mistralai', setting: 'serverURL', value: ORIGIN, test: DOCUMENTS }, call: 'files, ocr' },
  { ...{ program: 'unstructured-client', setting: 'serverURL', value: ORIGIN, test: DOCUMENTS }, call: 'partition' },
  {
    ...{ program: 'LangChain (@langchain/community)', setting: 'apiUrl', value: `${ORIGIN}/general/v0/general` },
    ...{ call: 'UnstructuredLoader', test: DOCUMENTS },
  },
];
