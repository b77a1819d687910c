/**
 * Wikipedia, or any MediaWiki: https://www.mediawiki.org/wiki/API:Search. The query goes to the Wikipedia in its
 * language.
 */
import { ownValue } from '#own-value.ts';
import { objectsIn, toHit, valueAt } from '../fields.ts';
import { baseLanguage } from '../languages.ts';
import type { OperatorName } from '../operators.ts';
import { textFor } from '../operators.ts';
import { buildUrl, getJson, type Provider } from '../provider.ts';
import type { SearchQuery } from '../query.ts';

const OPERATORS: ReadonlySet<OperatorName> = new Set(['intitle']);
/** Maximum length of a query, in characters. MediaWiki rejects longer ones. */
const MAX_CHARACTERS = 300;
/** Wikis whose name differs from the language code. */
const WIKIS: Readonly<Record<string, string>> = { nb: 'no', fil: 'tl' };

/** Replaces `{language}` in the URL with the language of the query, or with English. */
const wikiOf = (url: string, { language }: SearchQuery): string => {
  const base = language === undefined ? 'en' : baseLanguage(language);
  return url.replace('{language}', ownValue(WIKIS, base) ?? base);
};

export const wikipedia: Provider = {
  name: 'wikipedia',
  kinds: ['web'],
  needsKey: false,
  url: 'https://{language}.wikipedia.org',
  paging: 'exact',
  maxCount: 50,
  operators: OPERATORS,
  request(query, { url }) {
    const { count, page, noCorrection } = query;
    const parameters = {
      action: 'query',
      list: 'search',
      format: 'json',
      formatversion: 2,
      srsearch: textFor(query, OPERATORS).slice(0, MAX_CHARACTERS),
      srlimit: count,
      sroffset: (page - 1) * count,
      srprop: 'snippet',
      srenablerewrites: noCorrection ? undefined : 1,
    };
    return getJson(buildUrl(wikiOf(url, query), '/w/api.php', parameters));
  },
  parse: (answer, query, { url }) =>
    objectsIn(valueAt(answer, 'query.search')).flatMap((result) => {
      const title = typeof result.title === 'string' ? result.title : '';
      const page = encodeURIComponent(title.replaceAll(' ', '_')).replaceAll('%2F', '/').replaceAll('%3A', ':');
      return toHit({
        title,
        url: title && buildUrl(wikiOf(url, query), '/wiki/').href + page,
        description: result.snippet,
        source: 'Wikipedia',
      });
    }),
};
