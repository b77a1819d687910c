/** Mojeek, which has its own index: https://www.mojeek.com/support/api/search/ */
import { objectsIn, toHit, valueAt } from '../fields.ts';
import { baseLanguage } from '../languages.ts';
import { bareText, NO_OPERATOR } from '../operators.ts';
import { buildUrl, getJson, type Provider } from '../provider.ts';

export const mojeek: Provider = {
  name: 'mojeek',
  kinds: ['web'],
  needsKey: true,
  url: 'https://api.mojeek.com',
  paging: 'exact',
  maxCount: 20,
  operators: NO_OPERATOR,
  takesDates: true,
  request(query, { url, key = '' }) {
    const { count, page, country, language, since, until, operators } = query;
    return getJson(
      buildUrl(url, '/search', {
        q: bareText(query),
        fmt: 'json',
        s: (page - 1) * count + 1,
        t: count,
        lb: language && baseLanguage(language).toUpperCase(),
        rb: country?.toUpperCase(),
        // Only a single site is supported. If the query has several, results are filtered afterwards.
        site: operators.site.length === 1 ? operators.site[0] : undefined,
        since: day(since),
        before: day(until),
        api_key: key,
      }),
    );
  },
  parse: (answer) =>
    objectsIn(valueAt(answer, 'response.results')).flatMap((result) =>
      toHit({ title: result.title, url: result.url, description: result.desc, date: result.pdate ?? result.date }),
    ),
};

/** Formats a date as `20260131`. */
const day = (ms: number | undefined) =>
  ms === undefined ? undefined : new Date(ms).toISOString().slice(0, 10).replaceAll('-', '');
