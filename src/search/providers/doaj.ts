/** DOAJ, papers of open access journals: https://doaj.org/api/docs */
import { objectsIn, plainLine, toHit, valueAt } from '../fields.ts';
import { NO_OPERATOR } from '../operators.ts';
import { buildUrl, getJson, type Provider } from '../provider.ts';
import { luceneText } from '../query.ts';

const MAX_AUTHORS = 5;

export const doaj: Provider = {
  name: 'doaj',
  kinds: ['web'],
  needsKey: false,
  url: 'https://doaj.org',
  paging: 'exact',
  maxCount: 50,
  maxPage: 20,
  operators: NO_OPERATOR,
  source: {
    groups: ['papers'],
    operator: 'doaj',
    limits: [{ requests: 2, seconds: 1 }],
    documentation: 'https://doaj.org/api/docs',
  },
  request: (query, { url }) =>
    getJson(
      buildUrl(url, `/api/search/articles/${encodeURIComponent(luceneText(query))}`, {
        page: query.page,
        pageSize: query.count,
      }),
    ),
  parse: (answer) =>
    objectsIn(valueAt(answer, 'results')).flatMap((result) => {
      const of = (path: string) => valueAt(result, `bibjson.${path}`);
      const doi = objectsIn(of('identifier')).find(({ type }) => String(type).toLowerCase() === 'doi')?.id;
      const authors = objectsIn(of('author')).map(({ name }) => plainLine(name, 100));
      const named = authors.slice(0, MAX_AUTHORS).join(', ') + (authors.length > MAX_AUTHORS ? ' and others' : '');
      const parts = [named, plainLine(of('journal.title'), 200), plainLine(of('abstract'))];
      return toHit({
        title: of('title'),
        url: typeof doi === 'string' && doi ? `https://doi.org/${encodeURI(doi)}` : of('link.0.url'),
        description: parts.filter(Boolean).join('. '),
        source: 'DOAJ',
        date: of('year'),
      });
    }),
};
