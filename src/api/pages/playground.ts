/**
 * Serves the playground and the interactive description of the APIs: web pages on the reader's host that send requests to
 * all APIs. Their files are built by scripts/build-playground.mjs. The playground loads the options and the URLs of the
 * APIs as JSON.
 */
import { readdir, readFile } from 'node:fs/promises';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { BATCH_TASKS } from '#batch/index.ts';
import { CRAWL_OPTIONS } from '#crawl/index.ts';
import { problem } from '#errors.ts';
import { escapeAttribute } from '#html/serialize.ts';
import { createTags, sendTagged } from '#http/etag.ts';
import type { Face } from '#http/server.ts';
import { CHAT_FIELDS, EMBED_FIELDS, RERANK_FIELDS, SIDES, TASKS } from '#models/index.ts';
import { ownValue } from '#own-value.ts';
import { OPTIONS, PRESET_OPTIONS } from '#reader/index.ts';
import { ALL_OPTIONS } from '#search/index.ts';
import { type ApiUrlOptions, apiUrlsOf, policyFor } from './api-urls.ts';
import { crawlForm, type FieldTable, FLOW_FORM, formOf, modelFormOf } from './playground-form.ts';
import type { ApiUrls, DescribedApi, PlaygroundSetup } from './playground-types.ts';

export const PLAYGROUND_PATHS = ['/playground', '/playground/'] as const;

export interface PlaygroundOptions extends ApiUrlOptions {
  readonly version: string;
  readonly searchNeedsKey: boolean;
  readonly modelsNeedKey: boolean;
}

/** The path is the same from src/api and from dist/api. */
const FOLDER = new URL('../../../dist/playground/', import.meta.url);
const TYPES: Readonly<Record<string, string>> = {
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
};
const HTML = 'index.html';
const API_HTML = 'api.html';

/**
 * The search options, except `count`, which is an alias of `num`. As a header, `engine` selects the reader's engine.
 */
const { count: _, ...searchOptions } = ALL_OPTIONS;
const SEARCH_TABLE = { ...searchOptions, engine: OPTIONS.engine } as FieldTable;

export function playgroundRoutes(face: Face, deps: PlaygroundOptions): void {
  let reading: Promise<ReadonlyMap<string, string>> | undefined;
  const tagOf = createTags();
  const builtFiles = () => {
    reading ??= readBuilt();
    return reading;
  };
  // The forms are generated when they are first requested, because loading the schemas would slow down every start.
  let forms: PlaygroundSetup['forms'] | undefined;
  const keyNeeded = {
    ...{ reader: false, crawl: deps.modelsNeedKey },
    ...{ search: deps.searchNeedsKey, models: deps.modelsNeedKey, flow: false },
  };

  async function sendPage(name: string, request: FastifyRequest, reply: FastifyReply, change = (html: string) => html) {
    const html = (await builtFiles()).get(name);
    if (!html) throw problem('RouteNotFoundError', { message: 'The playground is not built: run npm run build' });
    reply
      .type('text/html; charset=utf-8')
      .header('cache-control', 'no-cache')
      .header('content-security-policy', policyFor(apiUrlsOf(request, deps)))
      .header('referrer-policy', 'no-referrer')
      .header('cross-origin-opener-policy', 'same-origin');
    return sendTagged(request, reply, change(html));
  }
  face.get('/playground', (request, reply) => sendPage(HTML, request, reply));
  face.get('/docs/api', (request, reply) => {
    const apis = escapeAttribute(JSON.stringify(describedApis(apiUrlsOf(request, deps))));
    return sendPage(API_HTML, request, reply, (html) => html.replace('{{apis}}', () => apis));
  });
  face.get<{ Params: { name: string } }>('/playground/:name', async (request, reply) => {
    const { name } = request.params;
    if (name === 'setup.json') {
      const faces = apiUrlsOf(request, deps);
      forms ??= makeForms();
      const setup: PlaygroundSetup = { version: deps.version, faces, keyNeeded, forms, presets: PRESET_OPTIONS };
      reply.type('application/json; charset=utf-8').header('cache-control', 'no-cache');
      return sendTagged(request, reply, JSON.stringify(setup));
    }
    const file = name === HTML || name === API_HTML ? undefined : (await builtFiles()).get(name);
    if (!file) throw problem('RouteNotFoundError', { message: `The playground has no file ${name}` });
    // Immutable, as the names contain a digest of the content.
    reply
      .type(ownValue(TYPES, name.slice(name.lastIndexOf('.') + 1)) ?? 'application/octet-stream')
      .header('cache-control', 'public, max-age=31536000, immutable');
    return sendTagged(request, reply, file, tagOf(name, file));
  });
}

const API_TITLES = {
  reader: 'Reader',
  search: 'Search',
  models: 'Models',
  flow: 'Flow gateway',
  compat: 'Other clients',
} as const;

function describedApis(urls: ApiUrls): DescribedApi[] {
  const names = Object.keys(API_TITLES) as (keyof typeof API_TITLES)[];
  return names.flatMap((name) => {
    const base = name === 'reader' ? '' : urls[name];
    return base === null ? [] : [{ name, title: API_TITLES[name], url: `${base}/openapi.json` }];
  });
}

const EMBED_TASKS = [...new Set(Object.values(TASKS).flatMap(({ values }) => values))];

const omit = <Table extends object>(table: Table, names: readonly (keyof Table & string)[]) =>
  Object.fromEntries(Object.entries(table).filter(([name]) => !names.some((other) => other === name)));
const pick = <Table extends object>(table: Table, names: readonly (keyof Table & string)[]) =>
  Object.fromEntries(names.map((name) => [name, table[name]]));

const BATCH_FIELDS = ['task', 'dimensions', 'normalized', 'embedding_type', 'truncate'] as const;
/** Jobs have no trace. */
const batchForm = () =>
  modelFormOf(pick(EMBED_FIELDS, BATCH_FIELDS), { task: BATCH_TASKS }).filter(({ name }) => name !== 'trace');

const makeForms = (): PlaygroundSetup['forms'] => ({
  read: formOf(OPTIONS as FieldTable),
  search: formOf(SEARCH_TABLE),
  embed: modelFormOf(omit(EMBED_FIELDS, ['model', 'input']), { task: EMBED_TASKS, input_type: Object.keys(SIDES) }),
  rerank: modelFormOf(omit(RERANK_FIELDS, ['model', 'query', 'documents'])),
  ocr: modelFormOf(pick(CHAT_FIELDS, ['output_format', 'max_tokens'])),
  crawl: crawlForm(CRAWL_OPTIONS, formOf(OPTIONS as FieldTable)),
  batch: batchForm(),
  flow: FLOW_FORM,
});

/** The built files by name; empty if none were built. */
async function readBuilt(): Promise<ReadonlyMap<string, string>> {
  const names = await readdir(FOLDER).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return [];
    throw error;
  });
  const read = names.map(async (name) => [name, await readFile(new URL(name, FOLDER), 'utf8')] as const);
  return new Map(await Promise.all(read));
}
