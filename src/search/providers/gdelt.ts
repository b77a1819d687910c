/** GDELT, news of the last three months in many languages: https://blog.gdeltproject.org/gdelt-doc-2-0-api-debuts/ */
import { objectsIn, toHit, valueAt } from '../fields.ts';
import type { OperatorName } from '../operators.ts';
import { buildUrl, getJson, type Provider } from '../provider.ts';
import { plainWords, type SearchQuery } from '../query.ts';

const OPERATORS: ReadonlySet<OperatorName> = new Set([]);
const DEFAULT_SPAN = '1month';
const MAX_WORDS = 12;

export const gdelt: Provider = {
  name: 'gdelt',
  kinds: ['web', 'news'],
  needsKey: false,
  url: 'https://api.gdeltproject.org',
  paging: 'none',
  maxCount: 100,
  operators: OPERATORS,
  takesDates: true,
  source: {
    groups: [],
    operator: 'gdelt',
    limits: [{ requests: 1, seconds: 5 }],
    documentation: 'https://blog.gdeltproject.org/gdelt-doc-2-0-api-debuts/',
  },
  request(query, { url }) {
    const { count, since, until } = query;
    const isDated = since !== undefined || until !== undefined;
    return getJson(
      buildUrl(url, '/api/v2/doc/doc', {
        query: searchText(query),
        mode: 'artlist',
        format: 'json',
        maxrecords: count,
        sort: 'hybridrel',
        timespan: isDated ? undefined : DEFAULT_SPAN,
        startdatetime: since === undefined ? undefined : moment(since),
        enddatetime: until === undefined ? undefined : moment(until),
      }),
    );
  },
  parse: (answer, { kind }) =>
    objectsIn(valueAt(answer, 'articles')).flatMap((article) =>
      toHit({
        title: article.title,
        url: article.url,
        description: '',
        source: article.domain,
        date: isoMoment(article.seendate),
        imageUrl: kind === 'news' ? article.socialimage : undefined,
        attribution: 'Found by the GDELT Project (https://www.gdeltproject.org/)',
      }),
    ),
};

/** Only words: brackets, colons and short words have a meaning of their own or are errors. */
const searchText = (query: SearchQuery): string =>
  plainWords(query)
    .split(/[^\p{L}\p{N}-]+/u)
    .filter((word) => word.length > 1)
    .slice(0, MAX_WORDS)
    .join(' ');

/** Formats a time as `20260131235900`. */
const moment = (ms: number) => new Date(ms).toISOString().replace(/\D/g, '').slice(0, 14);

/** Converts `20260131T235900Z`. */
function isoMoment(value: unknown): string | undefined {
  const [, year, month, day, hour, minute, second] =
    /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/.exec(typeof value === 'string' ? value : '') ?? [];
  return year && `${year}-${month}-${day}T${hour}:${minute}:${second}Z`;
}
