/** Serper's searches. No page is read. An array of queries gets an array of answers. */
import { Problem, problem } from '#errors.ts';
import { isUrl } from '#is-url.ts';
import type { Answer } from '#search/index.ts';
import type { CompatCall } from '../dialect.ts';
import { sendJson } from '../errors.ts';
import { readFields, renamePath } from '../fields.ts';
import { showIgnored } from '../ignored.ts';
import { readAll } from '../read-all.ts';
import { MAX_RESULTS, resultCount } from '../result-count.ts';
import { SEARCH_FIELDS, type SerperSearch } from './fields.ts';
import { timeRange } from './time-range.ts';

const FIELD_NAMES = { since: 'tbs', until: 'tbs' };
/** Maximum number of queries in one request. */
const MAX_QUERIES = 100;
/** Time limit in seconds. */
const TIMEOUT_S = 8;

export type Kind = 'search' | 'images' | 'news';
const TYPES = { search: 'web', images: 'images', news: 'news' } as const;

export const search = (kind: Kind) => async (call: CompatCall) => {
  if (!Array.isArray(call.body)) return sendJson(call.reply, await searchOne(call, kind, call.body));
  const queries: readonly unknown[] = call.body;
  if (queries.length === 0 || queries.length > MAX_QUERIES) {
    throw problem('ParamValidationError', { path: 'body', message: `The body must have 1 to ${MAX_QUERIES} queries` });
  }
  return sendJson(call.reply, await readAll(queries, (query) => searchOne(call, kind, query)));
};

/** Serper's video search, for which Lectern has no source. */
export const noVideos = (call: CompatCall) => {
  const asked = readFields(SEARCH_FIELDS, call.body);
  return sendJson(call.reply, { searchParameters: parametersOf('videos', asked), videos: [], credits: 1 });
};

async function searchOne(call: CompatCall, kind: Kind, body: unknown): Promise<object> {
  const asked = readFields(SEARCH_FIELDS, body);
  const range = asked.tbs ? timeRange(asked.tbs, Date.now()) : undefined;
  const given = {
    q: asked.q,
    type: TYPES[kind],
    num: resultCount(asked.num),
    page: asked.page,
    respondWith: 'no-content',
    timeout: TIMEOUT_S,
    ...(asked.gl && { gl: asked.gl }),
    ...(asked.hl && { hl: asked.hl }),
    ...(asked.location && { location: asked.location }),
    ...(!asked.autocorrect && { nfpr: true }),
    ...range,
  };
  const { results } = await call.native.search(call, given).catch((error: unknown) => {
    throw error instanceof Problem ? renamePath(error, FIELD_NAMES) : error;
  });
  const ignored = { num: asked.num > MAX_RESULTS, tbs: Boolean(asked.tbs) && !range };
  showIgnored(
    call.reply,
    Object.entries(ignored).flatMap(([name, isIgnored]) => (isIgnored ? [name] : [])),
  );
  return { searchParameters: parametersOf(kind, asked), ...WRITERS[kind](results), credits: 1 };
}

const parametersOf = (type: Kind | 'videos', { q, gl, hl, location, num, page }: SerperSearch) => ({
  q,
  ...(gl !== undefined && { gl }),
  ...(hl !== undefined && { hl }),
  ...(location !== undefined && { location }),
  type,
  num,
  page,
  engine: 'google',
});

type Results = Answer['results'];

/** The list is always there, because clients read it without a check. */
const WRITERS: Readonly<Record<Kind, (results: Results) => object>> = {
  search: (results) => ({
    organic: results.map(({ title, url, description, date, siteLinks }, at) => ({
      title,
      link: url,
      snippet: description ?? '',
      ...(date !== undefined && { date }),
      ...(siteLinks !== undefined && { sitelinks: siteLinks.map((one) => ({ title: one.title, link: one.link })) }),
      position: at + 1,
    })),
  }),
  images: (results) => ({
    images: results.map(({ title, url, imageUrl = '', imageWidth, imageHeight, source }, at) => ({
      title,
      imageUrl,
      ...(imageWidth !== undefined && { imageWidth }),
      ...(imageHeight !== undefined && { imageHeight }),
      thumbnailUrl: imageUrl,
      source: source ?? '',
      domain: isUrl(url) ? new URL(url).hostname : '',
      link: url,
      position: at + 1,
    })),
  }),
  news: (results) => ({
    news: results.map(({ title, url, description, date, source, imageUrl }, at) => ({
      title,
      link: url,
      snippet: description ?? '',
      date: date ?? '',
      source: source ?? '',
      ...(imageUrl !== undefined && { imageUrl }),
      position: at + 1,
    })),
  }),
};
