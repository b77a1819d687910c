/** Brave Search: https://api-dashboard.search.brave.com/app/documentation */
import { ownValue } from '#own-value.ts';
import { objectsIn, toHit, toSiteLink, valueAt } from '../fields.ts';
import { baseLanguage } from '../languages.ts';
import type { OperatorName } from '../operators.ts';
import { textFor } from '../operators.ts';
import { buildUrl, getJson, type Provider } from '../provider.ts';
import type { SearchQuery } from '../query.ts';

const OPERATORS: ReadonlySet<OperatorName> = new Set(['site', 'notSite', 'ext', 'filetype', 'intitle', 'loc']);
/** Maximum length of a query, in characters. Brave rejects longer ones. */
const MAX_CHARACTERS = 400;
/** Countries that Brave supports. For any other country, Brave is queried without a country. */
const COUNTRIES =
  'ar at au be br ca ch cl cn de dk es fi fr gb gr hk id in it jp kr mx my nl no nz ph pl pt ru sa se tr tw us za'.split(
    ' ',
  );
/** Languages for which Brave uses a different code. */
const LANGUAGES: Readonly<Record<string, string>> = {
  'zh-cn': 'zh-hans',
  zh: 'zh-hans',
  'zh-tw': 'zh-hant',
  'zh-hk': 'zh-hant',
  'pt-br': 'pt-br',
  pt: 'pt-pt',
  'pt-pt': 'pt-pt',
  'en-gb': 'en-gb',
  ja: 'jp',
};

export const brave: Provider = {
  name: 'brave',
  kinds: ['web', 'images', 'news'],
  needsKey: true,
  url: 'https://api.search.brave.com/res/v1',
  paging: 'exact',
  maxCount: 20,
  maxPage: 10,
  operators: OPERATORS,
  takesDates: true,
  request(query, { url, key = '' }) {
    const { kind, country, language, count, page } = query;
    const parameters = {
      q: textFor(query, OPERATORS).slice(0, MAX_CHARACTERS),
      count,
      offset: kind === 'images' ? undefined : page - 1,
      country: country && (COUNTRIES.includes(country) ? country.toUpperCase() : 'ALL'),
      search_lang: language && (ownValue(LANGUAGES, language) ?? baseLanguage(language)),
      spellcheck: query.noCorrection ? 0 : undefined,
      freshness: kind === 'images' ? undefined : freshness(query),
    };
    return getJson(buildUrl(url, `/${kind}/search`, parameters), { 'x-subscription-token': key });
  },
  parse(answer, { kind, page }) {
    if (kind === 'images') return page > 1 ? [] : objectsIn(valueAt(answer, 'results')).flatMap(image);
    return objectsIn(valueAt(answer, kind === 'web' ? 'web.results' : 'results')).flatMap((result) =>
      toHit({
        title: result.title,
        url: result.url,
        description: result.description,
        source: valueAt(result, 'profile.name') ?? valueAt(result, 'meta_url.hostname'),
        date: result.age ?? result.page_age,
        ...(kind === 'news' && { imageUrl: valueAt(result, 'thumbnail.original') ?? valueAt(result, 'thumbnail.src') }),
        siteLinks: objectsIn(valueAt(result, 'deep_results.buttons')).flatMap((link) =>
          toSiteLink(link.title, link.url),
        ),
      }),
    );
  },
};

const image = (result: Readonly<Record<string, unknown>>) =>
  toHit({
    title: result.title,
    url: result.url,
    source: result.source,
    imageUrl: valueAt(result, 'properties.url') ?? valueAt(result, 'thumbnail.src'),
    imageWidth: valueAt(result, 'properties.width'),
    imageHeight: valueAt(result, 'properties.height'),
  });

const day = (ms: number) => new Date(ms).toISOString().slice(0, 10);

function freshness({ since, until }: SearchQuery): string | undefined {
  if (since === undefined && until === undefined) return undefined;
  return `${day(since ?? 0)}to${day((until ?? Date.now()) - 1)}`;
}
