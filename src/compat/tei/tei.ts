/** Hugging Face's Text Embeddings Inference. */
import type * as z from 'zod';
import type { Access } from '../access.ts';
import type { CompatCall, CompatRoute, Dialect } from '../dialect.ts';
import { sendJson } from '../errors.ts';
import { embeddings } from '../openai/embeddings.ts';
import { embed, embedAll, embedSparse, similarity } from './embed.ts';
import { writeTeiError } from './errors.ts';
import {
  DECODE_FIELDS,
  EMBED_FIELDS,
  PREDICT_FIELDS,
  RERANK_FIELDS,
  SIMILARITY_FIELDS,
  TOKEN_EMBED_FIELDS,
  TOKENIZE_FIELDS,
} from './fields.ts';
import { info } from './info.ts';
import { isReranker, modelOf } from './model.ts';
import { predict, rerank } from './rank.ts';
import { decode, tokenize } from './tokens.ts';

/** `POST /`: the operation that the fields, or the model, have in TEI. */
async function root(call: CompatCall): Promise<unknown> {
  const body = call.body as Readonly<Record<string, unknown>>;
  const { inputs } = body;
  if (body.texts !== undefined) return rerank(call);
  if (typeof inputs === 'object' && inputs !== null && !Array.isArray(inputs)) return similarity(call);
  return (await isReranker(call)) ? predict(call) : embed(call);
}

/** The prefixes at which one model is served. An id may contain its organization. */
const MODELS = ['/:model', '/:organization/:model'];

interface Operation {
  readonly url: string;
  readonly access: Access;
  readonly summary: string;
  readonly fields?: z.ZodType;
  readonly handler: (call: CompatCall) => unknown;
}

const OPERATIONS: readonly Operation[] = [
  { url: '/', access: 'embeddings', summary: 'Embeds, reranks or compares, by its fields.', handler: root },
  { url: '/embed', access: 'embeddings', summary: 'Embeds texts.', fields: EMBED_FIELDS, handler: embed },
  {
    url: '/embed_all',
    access: 'embeddings',
    summary: 'Embeds texts with one vector for each token.',
    fields: TOKEN_EMBED_FIELDS,
    handler: embedAll,
  },
  {
    url: '/embed_sparse',
    access: 'embeddings',
    summary: 'Embeds texts with a weight for each token.',
    fields: TOKEN_EMBED_FIELDS,
    handler: embedSparse,
  },
  { url: '/rerank', access: 'rerank', summary: 'Ranks texts.', fields: RERANK_FIELDS, handler: rerank },
  {
    url: '/predict',
    access: 'rerank',
    summary: 'Scores pairs of texts with a reranker.',
    fields: PREDICT_FIELDS,
    handler: predict,
  },
  {
    url: '/similarity',
    access: 'embeddings',
    summary: 'Returns the cosines of sentences with one sentence.',
    fields: SIMILARITY_FIELDS,
    handler: similarity,
  },
  { url: '/tokenize', access: 'embeddings', summary: 'Returns tokens.', fields: TOKENIZE_FIELDS, handler: tokenize },
  { url: '/decode', access: 'embeddings', summary: 'Returns texts of ids.', fields: DECODE_FIELDS, handler: decode },
  ...['/embeddings', '/v1/embeddings'].map((url) => ({
    url,
    access: 'embeddings' as const,
    summary: "Embeds in the format of OpenAI's API.",
    handler: (call: CompatCall) => embeddings(call, modelOf(call, 'embedder')),
  })),
];

const ok = ({ reply }: CompatCall) => sendJson(reply, { status: 'ok' });

function* routes(): Generator<CompatRoute> {
  for (const { url, ...rest } of OPERATIONS) {
    yield { method: 'POST', url, ...rest };
    for (const prefix of MODELS) {
      yield { method: 'POST', url: url === '/' ? prefix : prefix + url, isPrefixed: true, ...rest };
    }
  }
  const isPublic = { method: ['GET', 'HEAD'], access: 'public' } as const;
  const about = { ...isPublic, summary: 'Describes the model.', handler: info };
  const alive = { ...isPublic, summary: 'Says that the server runs.', handler: ok };
  yield { url: '/info', ...about };
  yield { url: '/ping', ...alive };
  yield { url: '/health', isPrefixed: true, ...alive };
  for (const prefix of MODELS) {
    yield { url: `${prefix}/info`, isPrefixed: true, ...about };
    yield { url: `${prefix}/health`, isPrefixed: true, ...alive };
  }
}

export const tei: Dialect = {
  name: 'tei',
  title: 'Text Embeddings Inference',
  keyPlaces: ['bearer'],
  writeError: writeTeiError,
  routes: [...routes()],
};
