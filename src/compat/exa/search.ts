/** Exa's `/search`. Pages are read only if `contents` asks for their text or their highlights. */
import { Problem } from '#errors.ts';
import type { Answer } from '#search/index.ts';
import type { CompatCall } from '../dialect.ts';
import { sendJson } from '../errors.ts';
import { readFields, renamePath } from '../fields.ts';
import { showIgnored } from '../ignored.ts';
import { MAX_RESULTS, resultCount } from '../result-count.ts';
import { cacheFields, cutText, wants } from './contents.ts';
import { type ExaSearch, SEARCH_FIELDS } from './fields.ts';

const FIELD_NAMES = {
  q: 'query',
  num: 'numResults',
  gl: 'userLocation',
  since: 'startPublishedDate',
  until: 'endPublishedDate',
  site: 'includeDomains',
};
/** Time limit in seconds for a list without pages, and with them. */
const LIST_S = 8;
const PAGES_S = 25;
/** Tokens of passages for each result. */
const PASSAGE_TOKENS = 400;

export async function search(call: CompatCall): Promise<unknown> {
  const startedAt = performance.now();
  const asked = readFields(SEARCH_FIELDS, call.body);
  const answer = await call.native.search(call, toSearchFields(asked)).catch((error: unknown) => {
    throw error instanceof Problem ? renamePath(error, FIELD_NAMES) : error;
  });
  showIgnored(call.reply, ignoredFields(asked));
  return sendJson(call.reply, {
    requestId: call.request.id,
    resolvedSearchType: 'keyword',
    results: answer.results.map((result, at) => writeResult(result, at, asked)),
    searchTime: Math.round(performance.now() - startedAt),
    costDollars: { total: 0 },
  });
}

function toSearchFields(asked: ExaSearch): Record<string, unknown> {
  const { contents = {} } = asked;
  const excluded = (asked.excludeDomains ?? []).map((domain) => ` -site:${domain}`).join('');
  const num = resultCount(asked.numResults);
  const hasText = wants(contents.text);
  const hasPassages = wants(contents.highlights) && !hasText;
  const reads = hasText || hasPassages;
  return {
    q: asked.query + excluded,
    num,
    type: asked.category === 'news' ? 'news' : asked.category === 'research paper' ? 'papers' : 'web',
    timeout: reads ? PAGES_S : LIST_S,
    ...(!reads && { respondWith: 'no-content' }),
    ...(hasPassages && { passages: PASSAGE_TOKENS * num }),
    ...(asked.category === 'pdf' && { filetype: ['pdf'] }),
    ...(asked.includeDomains?.length && { site: asked.includeDomains }),
    ...(asked.startPublishedDate && { since: asked.startPublishedDate }),
    ...(asked.endPublishedDate && { until: asked.endPublishedDate }),
    ...(asked.userLocation && { gl: asked.userLocation }),
    ...cacheFields(contents),
  };
}

const CATEGORIES = ['news', 'research paper', 'pdf'];

function ignoredFields({ numResults, category, contents = {} }: ExaSearch): string[] {
  const ignored = {
    numResults: numResults > MAX_RESULTS,
    category: category !== undefined && !CATEGORIES.includes(category),
    'contents.highlights': wants(contents.highlights) && wants(contents.text),
    'contents.summary': wants(contents.summary),
  };
  return Object.entries(ignored).flatMap(([name, isIgnored]) => (isIgnored ? [name] : []));
}

type Result = Answer['results'][number];

function writeResult(result: Result, at: number, { contents = {} }: ExaSearch): object {
  const date = Date.parse(result.date ?? result.publishedTime ?? '');
  return {
    id: result.url,
    url: result.url,
    title: result.title,
    score: Math.round(10_000 / (1 + at / 10)) / 10_000,
    ...(!Number.isNaN(date) && { publishedDate: new Date(date).toISOString() }),
    ...(result.imageUrl !== undefined && { image: result.imageUrl }),
    ...(wants(contents.text) && { text: cutText(result.blocked ? '' : result.content, contents.text) }),
    ...(wants(contents.highlights) &&
      !wants(contents.text) && { highlights: (result.blocked ? [] : (result.passages ?? [])).map(({ text }) => text) }),
  };
}
