/** Tavily: https://docs.tavily.com/documentation/api-reference/endpoint/search */
import { countryName } from '../countries.ts';
import { objectsIn, toHit, valueAt } from '../fields.ts';
import type { OperatorName } from '../operators.ts';
import { bareText } from '../operators.ts';
import { buildUrl, type Provider, postJson } from '../provider.ts';

const OPERATORS: ReadonlySet<OperatorName> = new Set(['site', 'notSite']);
const MAX_CHARACTERS = 400;
const day = (ms: number | undefined) => (ms === undefined ? undefined : new Date(ms).toISOString().slice(0, 10));

export const tavily: Provider = {
  name: 'tavily',
  kinds: ['web', 'news'],
  needsKey: true,
  url: 'https://api.tavily.com',
  paging: 'none',
  maxCount: 20,
  operators: OPERATORS,
  takesDates: true,
  request(query, { url, key = '' }) {
    const { kind, count, country, since, until, operators } = query;
    const body = {
      query: bareText(query).slice(0, MAX_CHARACTERS),
      topic: kind === 'news' ? 'news' : 'general',
      search_depth: 'basic',
      max_results: count,
      ...(operators.site.length && { include_domains: operators.site }),
      ...(operators.notSite.length && { exclude_domains: operators.notSite }),
      ...(country && kind === 'web' && { country: countryName(country) }),
      start_date: day(since),
      end_date: day(until),
    };
    return postJson(buildUrl(url, '/search'), body, { authorization: `Bearer ${key}` });
  },
  parse: (answer) =>
    objectsIn(valueAt(answer, 'results')).flatMap((result) =>
      toHit({
        title: result.title,
        url: result.url,
        description: result.content,
        date: result.published_date,
        score: result.score,
      }),
    ),
};
