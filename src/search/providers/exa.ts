/** Exa: https://docs.exa.ai/reference/search */
import { objectsIn, toHit, valueAt } from '../fields.ts';
import type { OperatorName } from '../operators.ts';
import { bareText } from '../operators.ts';
import { buildUrl, type Provider, postJson } from '../provider.ts';

const OPERATORS: ReadonlySet<OperatorName> = new Set(['site', 'notSite']);
const moment = (ms: number | undefined) => (ms === undefined ? undefined : new Date(ms).toISOString());

export const exa: Provider = {
  name: 'exa',
  kinds: ['web', 'news'],
  needsKey: true,
  url: 'https://api.exa.ai',
  paging: 'none',
  maxCount: 100,
  operators: OPERATORS,
  takesDates: true,
  request(query, { url, key = '' }) {
    const { kind, count, country, since, until, operators } = query;
    const body = {
      query: bareText(query),
      type: 'auto',
      numResults: count,
      ...(kind === 'news' && { category: 'news' }),
      ...(operators.site.length && { includeDomains: operators.site }),
      ...(operators.notSite.length && { excludeDomains: operators.notSite }),
      startPublishedDate: moment(since),
      endPublishedDate: moment(until),
      userLocation: country?.toUpperCase(),
      contents: { highlights: { numSentences: 2, highlightsPerUrl: 1 } },
    };
    return postJson(buildUrl(url, '/search'), body, { 'x-api-key': key });
  },
  parse: (answer, { kind }) =>
    objectsIn(valueAt(answer, 'results')).flatMap((result) =>
      toHit({
        title: result.title,
        url: result.url,
        description: valueAt(result, 'highlights.0') ?? result.summary ?? result.text,
        date: result.publishedDate,
        ...(kind === 'news' && { imageUrl: result.image }),
        score: result.score,
      }),
    ),
};
