/** Programs that call model servers. */
import assert from 'node:assert/strict';
import { type Any, bearer, type Facts, ORIGIN, type RequestRow } from './row.ts';

const EMBEDDER = 'lectern-static-v2';
const RERANKER = 'lectern-static-rerank-v2';

const post = (path: string, body: object) => (facts: Facts) => ({
  ...{ method: 'POST' as const, path, headers: bearer(facts) },
  body: JSON.stringify(body),
});

const isVector = (vector: unknown) => assert.ok(Array.isArray(vector) && vector.length > 100);
const hasVectors = ({ embeddings }: Any) => isVector(embeddings[0]);
const hasData = ({ data }: Any) => isVector(data[0].embedding);
const isRanked = ({ results }: Any) => assert.equal(results[0].index, 1);

const DOCUMENTS = ['Cars need fuel.', 'Bees find their way home by the sun.'];
const ranking = { query: 'How do bees find home?', documents: DOCUMENTS };

const ollama = (program: string, setting: string): RequestRow => ({
  ...{ program, setting, value: ORIGIN, call: 'embeddings (Ollama)' },
  request: post('/api/embed', { model: EMBEDDER, input: ['bees'] }),
  check: hasVectors,
});
const openai = (program: string, setting: string): RequestRow => ({
  ...{ program, setting, value: `${ORIGIN}/v1`, call: 'embeddings (OpenAI)' },
  request: post('/v1/embeddings', { model: EMBEDDER, input: ['bees'], encoding_format: 'float' }),
  check: hasData,
});

export const MODEL_ROWS: readonly RequestRow[] = [
  ollama('Open WebUI', 'RAG_OLLAMA_BASE_URL'),
  openai('Open WebUI', 'RAG_OPENAI_API_BASE_URL'),
  {
    ...{ program: 'Open WebUI', setting: 'RAG_EXTERNAL_RERANKER_URL', value: `${ORIGIN}/v1/rerank`, call: 'reranking' },
    request: post('/v1/rerank', { model: RERANKER, ...ranking, top_n: 2 }),
    check: isRanked,
  },
  {
    ...{ program: 'LibreChat', setting: 'JINA_API_URL', value: `${ORIGIN}/v1/rerank`, call: 'reranking' },
    request: post('/v1/rerank', {
      ...{ model: 'jina-reranker-v2-base-multilingual', ...ranking, top_n: 2, return_documents: true },
    }),
    check: isRanked,
  },
  ollama('AnythingLLM', 'EMBEDDING_BASE_PATH of Ollama'),
  openai('AnythingLLM', 'EMBEDDING_BASE_PATH of Generic OpenAI'),
  ollama('RAGFlow', 'base URL of Ollama'),
  ollama('Perplexica', 'base URL of Ollama'),
  {
    ...{ program: 'Roo Code', setting: 'base URL of Ollama', value: ORIGIN, call: 'list of models' },
    request: (facts) => ({ path: '/api/tags', headers: bearer(facts) }),
    check: ({ models }) => assert.ok(models.some(({ name }: { name: string }) => name.startsWith(EMBEDDER))),
  },
  {
    ...{ program: 'Roo Code', setting: 'base URL of OpenAI-compatible', value: `${ORIGIN}/v1`, call: 'embeddings' },
    request: post('/v1/embeddings', { model: EMBEDDER, input: ['bees'], encoding_format: 'base64' }),
    check: ({ data }) => assert.equal(typeof data[0].embedding, 'string'),
  },
  {
    ...{
      program: 'Continue',
      setting: 'apiBase of huggingface-tei',
      value: `${ORIGIN}/for/tei/MODEL/`,
      call: 'embeddings',
    },
    request: post(`/for/tei/${EMBEDDER}/embed`, { inputs: ['bees'] }),
    check: ([vector]) => isVector(vector),
  },
  {
    ...{
      program: 'Continue',
      setting: 'apiBase of huggingface-tei',
      value: `${ORIGIN}/for/tei/MODEL/`,
      call: 'reranking',
    },
    request: post(`/for/tei/${RERANKER}/rerank`, { query: ranking.query, texts: DOCUMENTS, return_text: true }),
    check: ([first]) => assert.equal(first.index, 1),
  },
  {
    ...{ program: 'Dify', setting: 'server URL of Text Embeddings Inference', value: `${ORIGIN}/for/tei/MODEL` },
    call: 'embeddings',
    request: post(`/for/tei/${EMBEDDER}/v1/embeddings`, { input: ['bees'] }),
    check: hasData,
  },
  {
    ...{ program: 'Haystack', setting: 'api_base_url of Cohere', value: ORIGIN, call: 'reranking' },
    request: post('/v2/rerank', { model: 'rerank-v3.5', ...ranking }),
    check: isRanked,
  },
  openai('Nextcloud (integration_openai)', 'service URL'),
];
