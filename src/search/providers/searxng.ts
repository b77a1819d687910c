/**
 * SearXNG and searx, self-hosted metasearch servers: https://docs.searxng.org/dev/search_api.html. Their settings must
 * enable the JSON format (`search: formats: [html, json]`); otherwise they respond with status 403.
 */
import { objectsIn, toHit, valueAt } from '../fields.ts';
import { baseLanguage, languageTag } from '../languages.ts';
import { ALL_OPERATORS } from '../operators.ts';
import { buildUrl, getJson, type Provider } from '../provider.ts';
import type { SearchKind, SearchQuery } from '../query.ts';

const CATEGORIES: Readonly<Record<SearchKind, string>> = { web: 'general', images: 'images', news: 'news' };
const DAY_MS = 86_400_000;

export const searxng: Provider = {
  name: 'searxng',
  kinds: ['web', 'images', 'news'],
  needsKey: false,
  paging: 'own',
  maxCount: 100,
  operators: ALL_OPERATORS,
  engines: ['google', 'bing'],
  request: (query, { url, key, engine }) =>
    getJson(
      buildUrl(url, '/search', {
        q: query.text,
        format: 'json',
        categories: CATEGORIES[query.kind],
        pageno: query.page,
        language: query.language && languageOf(query.language),
        time_range: timeRange(query),
        engines: engine && (query.kind === 'web' ? engine : `${engine} ${query.kind}`),
      }),
      key === undefined ? {} : { authorization: `Bearer ${key}` },
    ),
  parse: (answer, { kind }) =>
    objectsIn(valueAt(answer, 'results')).flatMap((result) => {
      const [, width, height] = /^\s*(\d+)\s*[x×]\s*(\d+)/.exec(String(result.resolution ?? '')) ?? [];
      const picture =
        kind === 'images' ? result.img_src : kind === 'news' ? result.img_src || result.thumbnail : undefined;
      return toHit({
        title: result.title,
        url: result.url,
        description: result.content,
        source: kind === 'web' ? undefined : (result.source ?? result.author),
        date: result.publishedDate,
        imageUrl: picture,
        imageWidth: width,
        imageHeight: height,
        score: result.score,
      });
    }),
};

/** SearXNG rejects regions that are not countries. */
const languageOf = (code: string) => (/-\d/.test(code) ? baseLanguage(code) : languageTag(code));

/** Returns the narrowest supported time range that includes the requested one. */
function timeRange({ since }: SearchQuery): string | undefined {
  if (since === undefined) return undefined;
  const days = (Date.now() - since) / DAY_MS;
  return days <= 1 ? 'day' : days <= 31 ? 'month' : days <= 366 ? 'year' : undefined;
}
