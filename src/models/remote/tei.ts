/** Hugging Face's Text Embeddings Inference (https://huggingface.github.io/text-embeddings-inference). */
import { countOf, fieldsOf, listOf } from './fields.ts';
import type { Protocol, Reply } from './protocol.ts';

/** The server reports token counts only in a header. */
const tokensOf = ({ headers }: Reply): number | undefined => {
  const reported = headers['x-compute-tokens'];
  return reported && /^\d+$/.test(reported) ? countOf(Number(reported)) : undefined;
};

/** A limit of 0 means that the server does not know it. */
const limitOf = (value: unknown): number | undefined => countOf(value) || undefined;

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
