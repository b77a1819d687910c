/** SearXNG's JSON API: `/search`, `/config` and `/healthz`. No page is read, because clients give up after seconds. */
import { Problem, problem } from '#errors.ts';
import type { CompatCall, CompatRoute, Dialect } from '../dialect.ts';
import { type StatusTable, sendJson, statusOf } from '../errors.ts';
import { readFields, renamePath } from '../fields.ts';
import { showIgnored } from '../ignored.ts';
import { SEARXNG_FIELDS } from './fields.ts';
import { sendHtmlPage } from './html-page.ts';
import { instanceConfig } from './instance.ts';
import { toSearchFields } from './to-search.ts';
import { writeResults } from './write-results.ts';

/** Our options, by the names of SearXNG's parameters. */
const FIELD_NAMES = {
  hl: 'language',
  gl: 'language',
  page: 'pageno',
  type: 'categories',
  provider: 'engines',
  since: 'time_range',
};

const STATUSES: StatusTable = { InsufficientBalanceError: 429, TierFeatureConstraintError: 403 };

async function search(call: CompatCall): Promise<unknown> {
  const { request, reply, native } = call;
  const body = typeof call.body === 'object' && !Array.isArray(call.body) ? call.body : {};
  const query = readFields(SEARXNG_FIELDS, { ...body, ...withCategories(call.query) });
  const format = formatOf(query.format, request.headers.accept);
  if (!query.q?.trim()) throw problem('ParamValidationError', { path: 'q', message: 'No query' });
  const { given, category, ignored } = toSearchFields(query, native.parts.search.providers, Date.now());
  const answer = await native.search(call, given).catch((error: unknown) => {
    throw error instanceof Problem ? renamePath(error, FIELD_NAMES) : error;
  });
  showIgnored(reply, ignored);
  if (format === 'html') return sendHtmlPage(reply, query.q, answer);
  return sendJson(reply, writeResults(query.q, category, answer));
}

/** `format` wins over Accept, because Open WebUI sends `Accept: text/html` with `format=json`. */
function formatOf(format: string | undefined, accept: string | undefined): 'json' | 'html' {
  if (format === 'csv' || format === 'rss') {
    throw problem('OperationNotAllowedError', { path: 'format', message: `format ${format} is turned off: use json` });
  }
  if (format === undefined || format === '') return accept?.includes('text/html') ? 'html' : 'json';
  if (format === 'json' || format === 'html') return format;
  throw problem('ParamValidationError', { path: 'format', message: 'format must be json or html' });
}

/** Adds the categories that were sent as `category_NAME=on`. */
function withCategories(query: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const names = Object.keys(query).flatMap((key) => /^category_(.+)$/.exec(key)?.[1] ?? []);
  return { ...query, ...(names.length > 0 && query.categories === undefined && { categories: names }) };
}

const searchRoute = (method: 'GET' | 'POST', url: string): CompatRoute => ({
  method,
  url,
  access: 'search',
  summary: 'Searches and returns a list of results without reading their pages.',
  fields: SEARXNG_FIELDS,
  handler: search,
});

export const searxng: Dialect = {
  name: 'searxng',
  title: 'SearXNG',
  keyPlaces: [{ header: 'x-api-key' }, 'bearer'],
  mayBeKeyless: true,
  writeError: (failure, _, reply) => sendJson(reply.code(statusOf(failure, STATUSES)), { error: failure.message }),
  routes: [
    searchRoute('GET', '/search'),
    searchRoute('POST', '/search'),
    searchRoute('GET', '/'),
    searchRoute('POST', '/'),
    {
      method: 'GET',
      url: '/config',
      access: 'public',
      summary: 'Describes the instance.',
      handler: ({ reply, native }) => sendJson(reply, instanceConfig(native)),
    },
    {
      method: ['GET', 'HEAD'],
      url: '/healthz',
      access: 'public',
      summary: 'Returns OK while the server runs.',
      handler: ({ reply }) => reply.type('text/plain; charset=utf-8').send('OK'),
    },
  ],
};
