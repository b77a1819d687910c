/** Calls each API with the types that openapi-typescript generated from its document. Prints the results as JSON. */
import createClient from 'openapi-fetch';
import type { paths as Admin } from './admin.mjs';
import type { paths as Flow } from './flow.mjs';
import type { paths as Models } from './models.mjs';
import type { components, paths as Reader } from './reader.mjs';
import type { paths as Search } from './search.mjs';

interface Setting {
  readonly urls: Readonly<Record<'reader' | 'search' | 'model' | 'flow' | 'admin', string>>;
  readonly key: string;
  readonly secret: string;
}

const { urls, key, secret } = JSON.parse(process.argv[2] ?? '{}') as Setting;
const headers = { authorization: `Bearer ${key}`, accept: 'application/json' };

const reader = createClient<Reader>({ baseUrl: urls.reader, headers });
const search = createClient<Search>({ baseUrl: urls.search, headers });
const models = createClient<Models>({ baseUrl: urls.model, headers });
const flow = createClient<Flow>({ baseUrl: urls.flow });
const admin = createClient<Admin>({ baseUrl: urls.admin, headers: { authorization: `Bearer ${secret}` } });

async function callReader() {
  const options: components['schemas']['ReadOptions'] = { retainImages: 'none', maxTokens: 500, timeout: 10 };
  const { data } = await reader.POST('/', { body: { ...options, html: '<h1>Tides</h1><p>Twice a day.</p>' } });
  if (typeof data !== 'object') throw new Error('no JSON');
  const content: string | undefined = data.data.content;
  const tokens: number = data.data.usage.tokens;
  // @ts-expect-error: a page has no such field
  data.data.nothing;
  // @ts-expect-error: not one of the words
  const wrong = await reader.POST('/', { body: { html: '<p>a</p>', retainImages: 'some' } });
  const failure: { readonly code: number; readonly name: string } | undefined =
    typeof wrong.error === 'object' ? wrong.error : undefined;
  const crawls = await reader.GET('/crawls', { params: { query: { limit: 5 } } });
  const listed = typeof crawls.data === 'object' ? crawls.data.map(({ status }) => status) : undefined;
  return { content, tokens, failure: failure?.name, listed };
}

async function callSearch() {
  const { response, error } = await search.GET('/search', { params: { query: { q: 'tides', num: 1, type: 'web' } } });
  return { status: response.status, failure: typeof error === 'object' ? error.name : undefined };
}

async function callModels() {
  const embedded = await models.POST('/v1/embeddings', {
    body: { model: 'lectern-static-v2', input: ['a', { text: 'b' }], dimensions: 64 },
  });
  const entries: number | undefined = embedded.data?.data.length;
  const ranked = await models.POST('/v1/rerank', {
    body: { model: 'lectern-static-rerank-v2', query: 'tea', documents: ['green tea', 'a car'], top_n: 1 },
  });
  const best: number | undefined = ranked.data?.results[0]?.index;
  // @ts-expect-error: the model is missing
  const invalid = await models.POST('/v1/embeddings', { body: { input: 'a' } });
  const fields = invalid.error && 'errors' in invalid.error ? invalid.error.errors.map(({ field }) => field) : [];
  const listed = await models.GET('/v1/models');
  return { entries, best, fields, models: listed.data?.data.map(({ id }) => id) };
}

async function callFlow() {
  const { data } = await flow.POST('/post', { body: { data: [{ id: 'a', text: 'b' }], execEndpoint: '/none' } });
  const invalid = await flow.POST('/index', {
    // @ts-expect-error: no list of documents
    body: { data: 3 },
  });
  const detail = invalid.error && 'detail' in invalid.error ? invalid.error.detail : undefined;
  return {
    ids: data?.data.map(({ id }) => id),
    code: data?.header.status?.code ?? 0,
    hasDetail: Array.isArray(detail),
  };
}

async function callAdmin() {
  const made = await admin.POST('/accounts', { body: { name: 'typed', plan: 'free' } });
  const missing = await admin.GET('/accounts/{id}', { params: { path: { id: 'none' } } });
  return { plan: made.data?.data.plan, failure: missing.error?.name };
}

const result = {
  reader: await callReader(),
  search: await callSearch(),
  models: await callModels(),
  flow: await callFlow(),
  admin: await callAdmin(),
};
console.log(JSON.stringify(result));
