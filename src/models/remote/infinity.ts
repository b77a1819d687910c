/**
 * Infinity (https://michaelfeil.eu/infinity). Texts that are too long are cut without a word, whatever is asked; and
 * unless it was started with INFINITY_LENGTHS_VIA_TOKENIZE its usage counts characters, so it is not believed.
 */
import { embeddingBody, parseEmbeddings } from './openai.ts';
import type { EmbedAsk, Protocol } from './protocol.ts';
import { parseReranked } from './reranked.ts';

/** Media are addresses or data URIs in the place of texts, all of one modality. */
const bodyOf = (ask: EmbedAsk) => ({
  ...embeddingBody(ask),
  ...(ask.media && { input: ask.media.uris, modality: ask.media.medium }),
});

export const INFINITY: Protocol = {
  // Its paths begin with what `--url-prefix` says.
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
