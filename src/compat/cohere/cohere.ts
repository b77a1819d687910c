/** Cohere's API, versions 1 and 2: embeddings, reranking and tokens. */
import { problem } from '#errors.ts';
import type { CompatCall, CompatRoute, Dialect } from '../dialect.ts';
import { type StatusTable, sendJson, statusOf } from '../errors.ts';
import { readFields } from '../fields.ts';
import { cohereEntry } from '../openai/models.ts';
import { embed } from './embed.ts';
import { DETOKENIZE_FIELDS, EMBED_FIELDS, RERANK_FIELDS, TOKENIZE_FIELDS } from './fields.ts';
import { metaOf } from './meta.ts';
import { rerank } from './rerank.ts';

const STATUSES: StatusTable = {
  ModelNotFoundError: 404,
  TierFeatureConstraintError: 403,
  SubmittedDataMalformedError: 400,
  DownstreamServiceFailureError: 503,
};

async function tokenize(call: CompatCall): Promise<unknown> {
  const { model, text } = readFields(TOKENIZE_FIELDS, call.body);
  const [tokens = []] = await call.native.tokenize(call, { model, texts: [text], special: false });
  return sendJson(call.reply, {
    tokens: tokens.map(({ id }) => id),
    token_strings: tokens.map((token) => token.text),
    meta: metaOf({ version: 1, billed: {}, ignored: [] }),
  });
}

async function detokenize(call: CompatCall): Promise<unknown> {
  const { model, tokens } = readFields(DETOKENIZE_FIELDS, call.body);
  const given = { model, lists: [tokens], skipSpecial: true, field: 'tokens' };
  const [text = ''] = await call.native.detokenize(call, given);
  return sendJson(call.reply, { text, meta: metaOf({ version: 1, billed: {}, ignored: [] }) });
}

/** The key was checked before this handler runs. */
function checkKey({ reply, admission: { caller } }: CompatCall): unknown {
  const owner = caller.kind === 'key' ? caller.account.id : '';
  return sendJson(reply, { valid: true, organization_id: owner, owner_id: owner });
}

async function models({ reply, native }: CompatCall): Promise<unknown> {
  const found = await native.parts.modelHost.registry.list();
  return sendJson(reply, { models: found.map(cohereEntry), next_page_token: '' });
}

async function model({ reply, native, params }: CompatCall): Promise<unknown> {
  const id = (params['*'] ?? '').replace(/\/$/, '');
  const found = await native.parts.modelHost.registry.find(id);
  if (found) return sendJson(reply, cohereEntry(found));
  throw problem('ModelNotFoundError', { message: `model ${id.slice(0, 100)} not found` });
}

const absent = (url: string): CompatRoute => ({
  method: 'POST',
  url,
  access: 'public',
  summary: 'Not offered: the answer is 404.',
  handler: () => {
    throw problem('RouteNotFoundError', { message: `Lectern does not have ${url} of Cohere` });
  },
});

export const cohere: Dialect = {
  name: 'cohere',
  title: 'Cohere',
  keyPlaces: ['bearer'],
  writeError: (failure, request, reply) =>
    sendJson(reply.code(statusOf(failure, STATUSES)), { message: failure.message, id: request.id }),
  routes: [
    ...([1, 2] as const).flatMap((version): CompatRoute[] => [
      {
        method: 'POST',
        url: `/v${version}/embed`,
        access: 'embeddings',
        summary: 'Embeds texts, images, or inputs of several parts.',
        fields: EMBED_FIELDS,
        handler: (call) => embed(call, version),
      },
      {
        method: 'POST',
        url: `/v${version}/rerank`,
        access: 'rerank',
        summary: 'Ranks documents.',
        fields: RERANK_FIELDS,
        handler: (call) => rerank(call, version),
      },
    ]),
    {
      method: 'POST',
      url: '/v1/tokenize',
      access: 'embeddings',
      summary: 'Returns the tokens of a text.',
      fields: TOKENIZE_FIELDS,
      handler: tokenize,
    },
    {
      method: 'POST',
      url: '/v1/detokenize',
      access: 'embeddings',
      summary: 'Returns the text of tokens.',
      fields: DETOKENIZE_FIELDS,
      handler: detokenize,
    },
    {
      method: 'POST',
      url: '/v1/check-api-key',
      access: 'embeddings',
      summary: 'Says whether the key is valid.',
      handler: checkKey,
    },
    {
      method: 'GET',
      url: '/v1/models',
      access: 'public',
      isPrefixed: true,
      summary: 'Lists the models.',
      handler: models,
    },
    {
      method: 'GET',
      url: '/v1/models/*',
      access: 'public',
      isPrefixed: true,
      summary: 'Describes a model.',
      handler: model,
    },
    ...['/v1/chat', '/v2/chat', '/v1/generate', '/v1/summarize'].map(absent),
  ],
};
