/** Ollama's API for embeddings. */
import * as z from 'zod';
import { problem } from '#errors.ts';
import type { CompatCall, CompatMethod, CompatRoute, Dialect } from '../dialect.ts';
import { type StatusTable, sendJson, statusOf } from '../errors.ts';
import { readFields } from '../fields.ts';
import { EMBED_FIELDS, embed, embedPrompt, PROMPT_FIELDS } from './embed.ts';
import { ARCHITECTURE, detailsOf, embedders, entryOf, notFound, untagged } from './model.ts';

/** The version of the API that clients test for before they use newer endpoints. */
const API_VERSION = '0.12.0';

const RUNNING = 'Lectern is running';

const STATUSES: StatusTable = {
  ModelNotFoundError: 404,
  TierFeatureConstraintError: 403,
  SubmittedDataMalformedError: 400,
  DownstreamServiceFailureError: 503,
};

const MODEL_FIELDS = z
  .object({ model: z.string().optional(), name: z.string().optional() })
  .refine(({ model, name }) => (model ?? name ?? '') !== '', { path: ['model'], message: 'is required' })
  .meta({ description: 'The model; `name` in older clients.' });

async function modelIn(call: CompatCall) {
  const { model, name = '' } = readFields(MODEL_FIELDS, call.body);
  const asked = model ?? name;
  const { registry } = call.native.parts.modelHost;
  const served = await registry.embedding(untagged(asked)).catch((error: Error) => {
    throw notFound(asked, error);
  });
  return served;
}

async function show(call: CompatCall): Promise<unknown> {
  const served = await modelIn(call);
  const { row } = served;
  return sendJson(call.reply, {
    license: row.licence,
    modelfile: '',
    parameters: '',
    template: '',
    system: '',
    details: detailsOf(served),
    modified_at: entryOf(served).modified_at,
    model_info: {
      'general.architecture': ARCHITECTURE,
      'general.basename': row.name,
      [`${ARCHITECTURE}.context_length`]: row.contextTokens,
      [`${ARCHITECTURE}.embedding_length`]: row.dimensions,
    },
    capabilities: ['embedding'],
  });
}

/** Says whether the model is here. Models are downloaded by the operator, or on first use. */
async function pull(call: CompatCall): Promise<unknown> {
  await modelIn(call);
  const isStream = (call.body as Readonly<Record<string, unknown>>).stream !== false;
  if (!isStream) return sendJson(call.reply, { status: 'success' });
  return call.reply.type('application/x-ndjson').send('{"status":"success"}\n');
}

async function tags({ reply, native }: CompatCall): Promise<unknown> {
  return sendJson(reply, { models: (await embedders(native)).map(entryOf) });
}

/** Models stay in memory until others need it, so no time is known at which one is unloaded. */
const FAR = '9999-12-31T23:59:59Z';

async function running({ reply, native }: CompatCall): Promise<unknown> {
  const { models } = native.parts.modelHost;
  const loaded = (await embedders(native)).filter(({ row, alias }) => !alias && models.residence(row) === 'loaded');
  return sendJson(reply, {
    models: loaded.map((model) => ({
      ...entryOf(model),
      expires_at: FAR,
      size_vram: 0,
      context_length: model.row.contextTokens,
    })),
  });
}

const get = (url: string, summary: string, handler: CompatRoute['handler']): CompatRoute => ({
  method: ['GET', 'HEAD'],
  url,
  access: 'public',
  summary,
  handler,
});

const absent = (method: CompatMethod, url: string): CompatRoute => ({
  method,
  url,
  access: 'public',
  summary: 'Not offered: the answer is 404.',
  handler: () => {
    throw problem('RouteNotFoundError', { message: `${url} is not offered: Lectern serves embeddings on this API` });
  },
});

export const ollama: Dialect = {
  name: 'ollama',
  title: 'Ollama',
  keyPlaces: ['bearer'],
  placeholders: ['x', 'ollama'],
  mayBeKeyless: true,
  writeError: (failure, _, reply) => sendJson(reply.code(statusOf(failure, STATUSES)), { error: failure.message }),
  routes: [
    {
      method: 'POST',
      url: '/api/embed',
      access: 'embeddings',
      summary: 'Embeds texts.',
      fields: EMBED_FIELDS,
      handler: embed,
    },
    {
      method: 'POST',
      url: '/api/embeddings',
      access: 'embeddings',
      summary: 'Embeds one text.',
      fields: PROMPT_FIELDS,
      handler: embedPrompt,
    },
    {
      method: 'POST',
      url: '/api/show',
      access: 'public',
      summary: 'Describes a model.',
      fields: MODEL_FIELDS,
      handler: show,
    },
    {
      method: 'POST',
      url: '/api/pull',
      access: 'public',
      summary: 'Says whether a model is here.',
      fields: MODEL_FIELDS,
      handler: pull,
    },
    get('/api/tags', 'Lists the embedding models.', tags),
    get('/api/ps', 'Lists the embedding models in memory.', running),
    get('/api/version', 'Returns the version of the API.', ({ reply, native }) =>
      sendJson(reply, { version: `${API_VERSION}-lectern`, lectern: native.parts.version }),
    ),
    get('/', 'Says that the server runs.', ({ reply }) => reply.type('text/plain; charset=utf-8').send(RUNNING)),
    ...['/api/chat', '/api/generate', '/api/create', '/api/copy', '/api/push'].map((url) => absent('POST', url)),
    absent('DELETE', '/api/delete'),
  ],
};
