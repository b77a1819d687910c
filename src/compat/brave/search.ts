/** Brave's web, news and image search. No page is read. */
import { Problem } from '#errors.ts';
import { isUrl } from '#is-url.ts';
import { ownValue } from '#own-value.ts';
import type { Answer } from '#search/index.ts';
import { daysAgo } from '../days-ago.ts';
import type { CompatCall } from '../dialect.ts';
import { sendJson } from '../errors.ts';
import { readFields, renamePath } from '../fields.ts';
import { sentFields, showIgnored } from '../ignored.ts';
import { MAX_RESULTS, resultCount } from '../result-count.ts';
import { BRAVE_FIELDS, type BraveQuery, IGNORED_FIELDS } from './fields.ts';

const FIELD_NAMES = { num: 'count', page: 'offset', gl: 'country', hl: 'search_lang', since: 'freshness' };
/** Time limit in seconds. */
const TIMEOUT_S = 8;
const DAYS: Readonly<Record<string, number>> = { pd: 1, pw: 7, pm: 31, py: 366 };
/** Codes of languages that differ from ours. */
const LANGUAGES: Readonly<Record<string, string>> = {
  jp: 'ja',
  'zh-hans': 'zh-cn',
  'zh-hant': 'zh-tw',
  'en-gb': 'en',
  'pt-pt': 'pt',
};

type Kind = 'web' | 'news' | 'images';
type Result = Answer['results'][number];

export const search = (kind: Kind) => async (call: CompatCall) => {
  const asked = readFields(BRAVE_FIELDS, call.query);
  const answer = await call.native.search(call, toSearchFields(kind, asked)).catch((error: unknown) => {
    throw error instanceof Problem ? renamePath(error, FIELD_NAMES) : error;
  });
  const results = answer.results.filter(({ url }) => isUrl(url));
  const cut = asked.count > MAX_RESULTS && Object.hasOwn(call.query, 'count') ? ['count'] : [];
  const sent = { ...call.query, safesearch: call.query.safesearch === 'off' ? undefined : call.query.safesearch };
  showIgnored(call.reply, [...cut, ...sentFields(sent, [...IGNORED_FIELDS, 'safesearch'])]);
  return sendJson(call.reply, writeAnswer(kind, asked, results));
};

function toSearchFields(type: Kind, asked: BraveQuery): Record<string, unknown> {
  const { freshness = '', country = '', search_lang: language } = asked;
  const days = ownValue(DAYS, freshness);
  const [since, until] = freshness.includes('to') ? freshness.split('to') : [days && daysAgo(days, Date.now())];
  return {
    q: asked.q,
    type,
    num: resultCount(asked.count),
    page: asked.offset + 1,
    respondWith: 'no-content',
    timeout: TIMEOUT_S,
    withFavicons: false,
    ...(!asked.spellcheck && { nfpr: true }),
    ...(country !== '' && country.toUpperCase() !== 'ALL' && { gl: country }),
    ...(language && { hl: ownValue(LANGUAGES, language.toLowerCase()) ?? language }),
    ...(since && { since }),
    ...(until && { until }),
  };
}

function writeAnswer(kind: Kind, { q, count }: BraveQuery, results: readonly Result[]): object {
  const query = { original: q, more_results_available: results.length >= resultCount(count) };
  if (kind === 'images') return { type: 'images', query, results: results.map(imageResult) };
  if (kind === 'news') return { type: 'news', query, results: results.map(newsResult) };
  return { type: 'search', query, web: { type: 'search', results: results.map(webResult), family_friendly: true } };
}

function pageResult({ url, title, description, date, publishedTime }: Result) {
  const { hostname, protocol, host, pathname } = new URL(url);
  const at = Date.parse(publishedTime ?? date ?? '');
  return {
    title,
    url,
    description: description ?? '',
    ...(date !== undefined && { age: date }),
    ...(!Number.isNaN(at) && { page_age: new Date(at).toISOString().slice(0, 19) }),
    meta_url: { scheme: protocol.slice(0, -1), netloc: host, hostname, favicon: '', path: pathname },
  };
}

function webResult(result: Result): object {
  const { hostname } = new URL(result.url);
  return {
    type: 'search_result',
    ...pageResult(result),
    is_source_local: false,
    family_friendly: true,
    profile: { name: result.source ?? hostname, long_name: hostname, url: result.url, img: '' },
    ...thumbnailOf(result),
  };
}

const newsResult = (result: Result) => ({ type: 'news_result', ...pageResult(result), ...thumbnailOf(result) });

function imageResult(result: Result): object {
  const { imageUrl = '', imageWidth: width, imageHeight: height, source } = result;
  return {
    type: 'image_result',
    ...pageResult(result),
    source: source ?? new URL(result.url).hostname,
    thumbnail: { src: imageUrl },
    properties: {
      url: imageUrl,
      ...(width !== undefined && { width }),
      ...(height !== undefined && { height }),
    },
  };
}

const thumbnailOf = ({ imageUrl }: Result) => (imageUrl === undefined ? {} : { thumbnail: { src: imageUrl } });
