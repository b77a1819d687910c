/** vLLM's API for pooling models: scores, ranking, vectors before pooling, and tokens. */
import { problem } from '#errors.ts';
import type { CompatCall, CompatRoute, Dialect } from '../dialect.ts';
import { sendJson } from '../errors.ts';
import { readFields, renameFields } from '../fields.ts';
import { sentFields, showIgnored } from '../ignored.ts';
import { encodeVector } from '../native/encode.ts';
import { listJson, sendJsonText, tokenVectorsOf, vectorsOf } from '../native/vectors.ts';
import { embeddings } from '../openai/embeddings.ts';
import { writeOpenAiError } from '../openai/errors.ts';
import { listModels } from '../openai/models.ts';
import { DETOKENIZE_FIELDS, POOLING_FIELDS, RERANK_FIELDS, SCORE_FIELDS, TOKENIZE_FIELDS } from './fields.ts';
import { headOf, modelOf, usageOf } from './model.ts';
import { score } from './score.ts';

/** Answers clients of Jina and Cohere too, whose fields are a part of these. */
async function rerank(call: CompatCall): Promise<unknown> {
  const asked = readFields(RERANK_FIELDS, call.body);
  const { query, documents, top_n } = asked;
  const body = call.body as Readonly<Record<string, unknown>>;
  const { name, request, results, tokens } = await call.native.rerank(call, {
    model: modelOf(call, asked.model, 'reranker'),
    query,
    documents,
    ...(top_n > 0 && { top_n }),
    return_embeddings: body.return_embeddings,
  });
  return sendJson(call.reply, {
    id: headOf(call, 'rerank').id,
    object: 'list',
    model: name,
    usage: { total_tokens: tokens },
    results: results.map(({ index, score: value }) => ({
      index,
      relevance_score: value,
      ...(asked.return_documents && { document: request.documents[index] }),
    })),
    meta: { api_version: { version: '1' }, billed_units: { search_units: 1 } },
  });
}

/** Returns one vector for each token if the model has them, else one vector for each input. */
async function pooling(call: CompatCall): Promise<unknown> {
  const asked = readFields(POOLING_FIELDS, call.body);
  const model = modelOf(call, asked.model, 'embedder');
  const embedded = await call.native.embed(call, { model, input: asked.input }).catch(renameFields({}));
  const { output } = embedded.request;
  if (output === 'sparse') {
    throw problem('ParamValidationError', { path: 'model', message: `model ${model} has sparse vectors only` });
  }
  const type = asked.encoding_format === 'base64' ? 'base64' : 'float';
  const rows =
    output === 'tokens'
      ? tokenVectorsOf(embedded).map((vectors) => listJson(vectors.map((vector) => encodeVector(vector, type))))
      : vectorsOf(embedded).map((vector) => encodeVector(vector, type));
  const data = rows.map((row, index) => `{"index":${index},"object":"pooling","data":${row}}`);
  showIgnored(call.reply, sentFields(call.body as Record<string, unknown>, ['truncate_prompt_tokens']));
  const head = JSON.stringify({ ...headOf(call, 'pool'), model: embedded.name }).slice(0, -1);
  const usage = JSON.stringify(usageOf(embedded.embeddings.tokens));
  return sendJsonText(call.reply, `${head},"data":${listJson(data)},"usage":${usage}}`);
}

async function tokenize(call: CompatCall): Promise<unknown> {
  const asked = readFields(TOKENIZE_FIELDS, call.body);
  const model = modelOf(call, asked.model, 'embedder');
  const [tokens = []] = await call.native.tokenize(call, {
    model,
    texts: [asked.prompt],
    special: asked.add_special_tokens,
  });
  const found = await call.native.parts.modelHost.registry.find(model);
  return sendJson(call.reply, {
    count: tokens.length,
    max_model_len: found?.row.contextTokens,
    tokens: tokens.map(({ id }) => id),
    token_strs: asked.return_token_strs ? tokens.map(({ text }) => text) : null,
  });
}

async function detokenize(call: CompatCall): Promise<unknown> {
  const { model, tokens } = readFields(DETOKENIZE_FIELDS, call.body);
  const given = { lists: [tokens], skipSpecial: true, field: 'tokens' };
  const [prompt] = await call.native.detokenize(call, { model: modelOf(call, model, 'embedder'), ...given });
  return sendJson(call.reply, { prompt });
}

const routes: readonly CompatRoute[] = [
  ...['/score', '/v1/score'].map((url) => ({
    method: 'POST' as const,
    url,
    access: 'rerank' as const,
    summary: 'Scores pairs of texts.',
    fields: SCORE_FIELDS,
    handler: score,
  })),
  ...['/rerank', '/v1/rerank'].map((url) => ({
    method: 'POST' as const,
    url,
    access: 'rerank' as const,
    summary: 'Ranks documents.',
    fields: RERANK_FIELDS,
    handler: rerank,
  })),
  {
    method: 'POST',
    url: '/pooling',
    access: 'embeddings',
    summary: 'Returns vectors, one for each token if the model has them.',
    fields: POOLING_FIELDS,
    handler: pooling,
  },
  {
    method: 'POST',
    url: '/tokenize',
    access: 'embeddings',
    summary: 'Returns the tokens of a text.',
    fields: TOKENIZE_FIELDS,
    handler: tokenize,
  },
  {
    method: 'POST',
    url: '/detokenize',
    access: 'embeddings',
    summary: 'Returns the text of tokens.',
    fields: DETOKENIZE_FIELDS,
    handler: detokenize,
  },
  {
    method: 'POST',
    url: '/v1/embeddings',
    access: 'embeddings',
    isPrefixed: true,
    summary: 'Embeds texts and media.',
    handler: (call) => embeddings(call, modelOf(call, undefined, 'embedder')),
  },
  {
    method: 'GET',
    url: '/v1/models',
    access: 'public',
    isPrefixed: true,
    summary: 'Lists the models.',
    handler: listModels,
  },
];

export const vllm: Dialect = {
  name: 'vllm',
  title: 'vLLM',
  keyPlaces: ['bearer'],
  writeError: writeOpenAiError,
  routes,
};
