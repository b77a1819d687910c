/** Tavily's `/search`. `content` is the snippet, or with `search_depth: advanced` the best passages of the page. */
import { Problem } from '#errors.ts';
import type { Answer } from '#search/index.ts';
import { daysAgo } from '../days-ago.ts';
import type { CompatCall } from '../dialect.ts';
import { sendJson } from '../errors.ts';
import { readFields, renamePath } from '../fields.ts';
import { sentFields, showIgnored } from '../ignored.ts';
import { DAYS, IGNORED_SEARCH_FIELDS, SEARCH_FIELDS, type TavilySearch } from './fields.ts';

const FIELD_NAMES = {
  q: 'query',
  num: 'max_results',
  gl: 'country',
  type: 'topic',
  since: 'start_date',
  until: 'end_date',
  site: 'include_domains',
};
/** Time limit in seconds for a list without pages, and with them. */
const LIST_S = 5;
const PAGES_S = 25;
/** Tokens of passages for each result: three of some 500 characters. */
const PASSAGE_TOKENS = 400;
const PASSAGE_GAP = ' [...] ';

export async function search(call: CompatCall): Promise<unknown> {
  const startedAt = performance.now();
  const asked = readFields(SEARCH_FIELDS, call.body);
  const answer = await call.native.search(call, toSearchFields(asked, Date.now())).catch((error: unknown) => {
    throw error instanceof Problem ? renamePath(error, FIELD_NAMES) : error;
  });
  showIgnored(call.reply, sentFields(call.body as Record<string, unknown>, IGNORED_SEARCH_FIELDS));
  return sendJson(call.reply, {
    query: asked.query,
    follow_up_questions: null,
    answer: null,
    images: imagesOf(answer, asked),
    results: answer.results.map((result, at) => writeResult(result, at, asked)),
    response_time: secondsSince(startedAt),
    request_id: call.request.id,
    ...(asked.include_usage && { usage: { credits: 1 } }),
  });
}

export const secondsSince = (startedAt: number): number => Math.round((performance.now() - startedAt) / 10) / 100;

export function toSearchFields(asked: TavilySearch, now: number): Record<string, unknown> {
  const reads = asked.search_depth === 'advanced' || asked.include_raw_content !== false;
  const excluded = (asked.exclude_domains ?? []).map((domain) => ` -site:${domain}`).join('');
  const days = asked.time_range ? DAYS[asked.time_range] : asked.topic === 'news' ? asked.days : undefined;
  const since = asked.start_date ?? (days && daysAgo(days, now));
  return {
    q: asked.query + excluded,
    num: asked.max_results,
    type: asked.topic === 'news' ? 'news' : 'web',
    timeout: reads ? PAGES_S : LIST_S,
    ...(!reads && { respondWith: 'no-content' }),
    ...(asked.include_raw_content === 'text' && { respondWith: 'text' }),
    ...(reads &&
      asked.include_raw_content === false && {
        passages: Math.max(PASSAGE_TOKENS * asked.max_results, PASSAGE_TOKENS),
      }),
    ...(asked.include_domains?.length && { site: asked.include_domains }),
    ...(asked.country && { gl: asked.country }),
    ...(asked.include_favicon && { withFavicons: true }),
    ...(since && { since }),
    ...(asked.end_date && { until: asked.end_date }),
  };
}

type Result = Answer['results'][number];

function writeResult(result: Result, at: number, asked: TavilySearch): object {
  // A page that was sent in place of the content is not content.
  const read: Partial<Result> = result.blocked ? {} : result;
  const passages = read.passages?.map(({ text }) => text).join(PASSAGE_GAP);
  const raw = asked.include_raw_content === 'text' ? read.text : read.content;
  return {
    title: result.title,
    url: result.url,
    content: passages || result.description || '',
    score: Math.round(10_000 / (1 + at / 10)) / 10_000,
    raw_content: asked.include_raw_content === false ? null : raw || null,
    ...(result.date !== undefined && { published_date: result.date }),
    ...(asked.include_favicon && result.favicon !== undefined && { favicon: result.favicon }),
  };
}

/** The pictures of results. Clients map over this list without a check, so it is always one. */
function imagesOf({ results }: Answer, asked: TavilySearch): unknown[] {
  if (!asked.include_images && !asked.include_image_descriptions) return [];
  const found = results.flatMap(({ imageUrl, title }) =>
    imageUrl === undefined ? [] : [{ url: imageUrl, description: title }],
  );
  return asked.include_image_descriptions ? found : found.map(({ url }) => url);
}
