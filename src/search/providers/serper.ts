/** Serper, which returns Google's results: https://serper.dev/playground */
import { objectsIn, toHit, toSiteLink, valueAt } from '../fields.ts';
import type { OperatorName } from '../operators.ts';
import { textFor } from '../operators.ts';
import { buildUrl, type Provider, postJson } from '../provider.ts';
import type { SearchKind, SearchQuery } from '../query.ts';

const OPERATORS: ReadonlySet<OperatorName> = new Set(['site', 'notSite', 'ext', 'filetype', 'intitle', 'inurl']);
const PLACES: Readonly<Record<SearchKind, { path: string; results: string }>> = {
  web: { path: '/search', results: 'organic' },
  images: { path: '/images', results: 'images' },
  news: { path: '/news', results: 'news' },
};

export const serper: Provider = {
  name: 'serper',
  kinds: ['web', 'images', 'news'],
  needsKey: true,
  url: 'https://google.serper.dev',
  paging: 'exact',
  maxCount: 20,
  operators: OPERATORS,
  takesDates: true,
  engines: ['google'],
  notice:
    'Serper resells results scraped from Google, which has sued a service of this kind. Seek legal advice before you depend on it.',
  request(query, { url, key = '' }) {
    const { kind, count, page, country, language, location, noCorrection } = query;
    const body = {
      q: textFor(query, OPERATORS),
      num: count,
      page,
      gl: country,
      hl: language,
      location,
      ...(noCorrection && { autocorrect: false }),
      tbs: dates(query),
    };
    return postJson(buildUrl(url, PLACES[kind].path), body, { 'x-api-key': key });
  },
  parse: (answer, { kind }) =>
    objectsIn(valueAt(answer, PLACES[kind].results)).flatMap((result) =>
      toHit({
        title: result.title,
        url: result.link,
        description: result.snippet,
        source: result.source,
        date: result.date,
        ...(kind !== 'web' && { imageUrl: result.imageUrl }),
        imageWidth: result.imageWidth,
        imageHeight: result.imageHeight,
        siteLinks: objectsIn(result.sitelinks).flatMap((link) => toSiteLink(link.title, link.link, link.snippet)),
      }),
    ),
};

const day = (ms: number) => {
  const [year, month, date] = new Date(ms).toISOString().slice(0, 10).split('-').map(Number);
  return `${month}/${date}/${year}`;
};

/** Builds Google's date range; both ends are inclusive. */
function dates({ since, until }: SearchQuery): string | undefined {
  if (since === undefined && until === undefined) return undefined;
  const from = since === undefined ? '' : `,cd_min:${day(since)}`;
  const to = until === undefined ? '' : `,cd_max:${day(until - 1)}`;
  return `cdr:1${from}${to}`;
}
