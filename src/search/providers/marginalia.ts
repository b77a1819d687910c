/** Marginalia Search, an index of small and old sites: https://about.marginalia-search.com/article/api */
import { objectsIn, toHit, valueAt } from '../fields.ts';
import { bareText, NO_OPERATOR } from '../operators.ts';
import { buildUrl, getJson, type Provider } from '../provider.ts';

/** The shared trial key. */
const PUBLIC_KEY = 'public';

export const marginalia: Provider = {
  name: 'marginalia',
  kinds: ['web'],
  needsKey: false,
  url: 'https://api2.marginalia-search.com',
  paging: 'exact',
  maxCount: 100,
  operators: NO_OPERATOR,
  notice: 'Results of Marginalia are licensed under CC-BY-NC-SA 4.0, unless your key has other terms.',
  request(query, { url, key = PUBLIC_KEY }) {
    const { site } = query.operators;
    // Only a single site is supported. If the query has several, results are filtered afterwards.
    const text = [bareText(query), ...(site.length === 1 ? [`site:${site[0]}`] : [])].join(' ');
    return getJson(buildUrl(url, '/search', { query: text, count: query.count, page: query.page }), {
      'api-key': key,
    });
  },
  parse: (answer) =>
    objectsIn(valueAt(answer, 'results')).flatMap((result) =>
      toHit({ title: result.title, url: result.url, description: result.description }),
    ),
};
