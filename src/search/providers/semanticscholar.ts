/** Semantic Scholar, papers of all subjects: https://api.semanticscholar.org/api-docs/graph */
import { objectsIn, plainLine, toHit, toSiteLink, valueAt } from '../fields.ts';
import { NO_OPERATOR } from '../operators.ts';
import { buildUrl, getJson, type Provider } from '../provider.ts';
import { plainWords } from '../query.ts';

const FIELDS = 'title,abstract,url,year,authors,openAccessPdf,externalIds';
const MAX_AUTHORS = 5;

export const semanticscholar: Provider = {
  name: 'semanticscholar',
  kinds: ['web'],
  needsKey: false,
  url: 'https://api.semanticscholar.org',
  paging: 'exact',
  maxCount: 50,
  maxPage: 20,
  operators: NO_OPERATOR,
  source: {
    groups: ['papers'],
    operator: 'semanticscholar',
    // Callers without a key share one limit, so 429 is frequent.
    limits: [{ requests: 1, seconds: 3 }],
    keyLimits: [{ requests: 1, seconds: 1 }],
    languages: ['en'],
    documentation: 'https://www.semanticscholar.org/product/api',
  },
  request(query, { url, key }) {
    const { count, page } = query;
    const parameters = { query: plainWords(query), offset: (page - 1) * count, limit: count, fields: FIELDS };
    const made = buildUrl(url, '/graph/v1/paper/search', parameters);
    return getJson(made, key === undefined ? {} : { 'x-api-key': key });
  },
  parse: (answer) =>
    objectsIn(valueAt(answer, 'data')).flatMap((paper) => {
      const authors = objectsIn(paper.authors).map(({ name }) => plainLine(name, 100));
      const named = authors.slice(0, MAX_AUTHORS).join(', ') + (authors.length > MAX_AUTHORS ? ' and others' : '');
      const doi = valueAt(paper, 'externalIds.DOI');
      return toHit({
        title: paper.title,
        // The DOI identifies a paper that another source has found too.
        url: typeof doi === 'string' ? `https://doi.org/${encodeURI(doi)}` : paper.url,
        description: [named, plainLine(paper.abstract)].filter(Boolean).join('. '),
        source: 'Semantic Scholar',
        date: paper.year,
        attribution: 'Semantic Scholar',
        siteLinks: toSiteLink('PDF', valueAt(paper, 'openAccessPdf.url')),
      });
    }),
};
