/**
 * Infinity (https://michaelfeil.eu/infinity). It truncates long texts silently, even if the request forbids truncation.
 * Its usage counts characters unless it was started with INFINITY_LENGTHS_VIA_TOKENIZE, so its usage is ignored.
 */
import { embeddingBody, parseEmbeddings } from './openai.ts';
import type { Protocol, RemoteEmbedRequest } from './protocol.ts';
import { parseReranked } from './reranked.ts';

/** Media are sent as URLs or data URIs instead of texts. All inputs of a request have the same modality. */
const bodyOf = (ask: RemoteEmbedRequest) => ({
  ...embeddingBody(ask),
  ...(ask.media && { input: ask.media.uris, modality: ask.media.medium }),
});

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
