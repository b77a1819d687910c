/** vLLM's server for pooling models (https://docs.vllm.ai, "OpenAI-Compatible Server"). */
import { fieldsOf } from './fields.ts';
import { embeddingBody, parseEmbeddings } from './openai.ts';
import type { Protocol } from './protocol.ts';
import { parseReranked } from './reranked.ts';

export const VLLM: Protocol = {
  address: 'root',
  limits: { inputs: 1_024, tokens: 250_000 },
  parallel: 8,
  // The server can truncate, but which end it cuts off depends on its version.
  truncates: false,
  tasks: false,
  embed: {
    base64: true,
    silent: false,
    outputs: ['pooled'],
    lateChunking: false,
    request: (ask) => ({ path: '/v1/embeddings', body: embeddingBody(ask) }),
    parse: parseEmbeddings,
  },
  rerank: {
    silent: false,
    windows: false,
    cosines: false,
    request: ({ model, query, documents, maxTokens }) => ({
      path: '/rerank',
      body: { model, query, documents, ...(maxTokens !== undefined && { truncate_prompt_tokens: maxTokens }) },
    }),
    parse: parseReranked,
  },
  count: {
    inputs: 1,
    request: (model, [prompt]) => ({ path: '/tokenize', body: { model, prompt, add_special_tokens: true } }),
    parse: ({ body }) => [fieldsOf(body).count],
  },
};
