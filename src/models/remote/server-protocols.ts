/** Protocols of servers for open models: Text Embeddings Inference, vLLM, Infinity and Ollama. */
import { countOf, fieldsOf, listOf } from './answers.ts';
import { embeddingBody, parseEmbeddings, parseReranked } from './hosted-protocols.ts';
import type { Protocol, RemoteEmbedRequest, Reply } from './protocol.ts';

/** The server reports token counts only in a header. */
const tokensOf = ({ headers }: Reply): number | undefined => {
  const reported = headers['x-compute-tokens'];
  return reported && /^\d+$/.test(reported) ? countOf(Number(reported)) : undefined;
};

/** A limit of 0 means that the server does not know it. */
const limitOf = (value: unknown): number | undefined => countOf(value) || undefined;

/** https://huggingface.github.io/text-embeddings-inference */
export const TEI: Protocol = {
  address: 'root',
  // Default limits of the server; `/info` reports the configured values.
  limits: { inputs: 32, tokens: 250_000 },
  parallel: 8,
  truncates: true,
  tasks: false,
  embed: {
    base64: false,
    silent: false,
    outputs: ['pooled', 'tokens'],
    lateChunking: false,
    request: ({ texts, truncate, output, dimensions }) => {
      const inputs = { inputs: texts, truncate, truncation_direction: 'Right' };
      if (output === 'tokens') return { path: '/embed_all', body: inputs };
      return { path: '/embed', body: { ...inputs, normalize: false, ...(dimensions !== undefined && { dimensions }) } };
    },
    parse: (reply) => ({
      rows: listOf(reply.body, 'embeddings').map((value) => ({ value })),
      tokens: tokensOf(reply),
    }),
  },
  rerank: {
    silent: false,
    windows: false,
    cosines: false,
    request: ({ query, documents, maxTokens }) => ({
      path: '/rerank',
      body: {
        query,
        texts: documents,
        raw_scores: false,
        return_text: false,
        truncate: maxTokens !== undefined,
        truncation_direction: 'Right',
      },
    }),
    parse: ({ body }) =>
      listOf(body, 'results').map((entry) => {
        const { index, score } = fieldsOf(entry);
        return { index, score };
      }),
  },
  count: {
    inputs: 32,
    request: (_, texts) => ({ path: '/tokenize', body: { inputs: texts, add_special_tokens: true } }),
    parse: ({ body }) => listOf(body, 'tokens').map((tokens) => (Array.isArray(tokens) ? tokens.length : undefined)),
  },
  info: {
    request: { path: '/info' },
    parse: ({ body }) => {
      const { max_client_batch_size: inputs } = fieldsOf(body);
      return { ...(limitOf(inputs) && { inputs: limitOf(inputs)! }) };
    },
  },
};

/** vLLM's server for pooling models (https://docs.vllm.ai, "OpenAI-Compatible Server"). */
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

/** Media are sent as URLs or data URIs instead of texts. All inputs of a request have the same modality. */
const bodyOf = (ask: RemoteEmbedRequest) => ({
  ...embeddingBody(ask),
  ...(ask.media && { input: ask.media.uris, modality: ask.media.medium }),
});

/**
 * Infinity (https://michaelfeil.eu/infinity). It truncates long texts silently, even if the request forbids truncation.
 * Its usage counts characters unless it was started with INFINITY_LENGTHS_VIA_TOKENIZE, so its usage is ignored.
 */
export const INFINITY: Protocol = {
  // The server's paths start with the value of `--url-prefix`.
  address: 'given',
  limits: { inputs: 2_048, tokens: 250_000 },
  parallel: 8,
  truncates: true,
  tasks: false,
  embed: {
    base64: true,
    silent: true,
    outputs: ['pooled'],
    lateChunking: false,
    media: ['image', 'audio'],
    request: (ask) => ({ path: '/embeddings', body: bodyOf(ask) }),
    parse: (reply) => ({ rows: parseEmbeddings(reply).rows }),
  },
  rerank: {
    silent: true,
    windows: false,
    cosines: false,
    request: ({ model, query, documents }) => ({
      path: '/rerank',
      body: { model, query, documents, return_documents: false, raw_scores: false },
    }),
    parse: parseReranked,
  },
};

/** Ollama (https://docs.ollama.com/api/embed). It does not support reranking. */
export const OLLAMA: Protocol = {
  address: 'root',
  limits: { inputs: 256, tokens: 100_000 },
  parallel: 2,
  truncates: true,
  tasks: false,
  embed: {
    base64: false,
    silent: false,
    outputs: ['pooled'],
    lateChunking: false,
    request: ({ model, texts, truncate, dimensions }) => ({
      path: '/api/embed',
      body: { model, input: texts, truncate, ...(dimensions !== undefined && { dimensions }) },
    }),
    parse: ({ body }) => {
      const { embeddings, prompt_eval_count: tokens } = fieldsOf(body);
      return { rows: listOf(embeddings, 'embeddings').map((value) => ({ value })), tokens: countOf(tokens) };
    },
  },
};
