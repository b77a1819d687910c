/** Europe PMC, papers of the life sciences: https://europepmc.org/RestfulWebService */
import { objectsIn, plainLine, toHit, valueAt } from '../fields.ts';
import { NO_OPERATOR } from '../operators.ts';
import { buildUrl, getJson, type Provider } from '../provider.ts';
import { luceneText } from '../query.ts';

export const europepmc: Provider = {
  name: 'europepmc',
  kinds: ['web'],
  needsKey: false,
  url: 'https://www.ebi.ac.uk/europepmc/webservices/rest',
  // Further pages need a mark from the response.
  paging: 'none',
  maxCount: 50,
  operators: NO_OPERATOR,
  source: {
    groups: ['papers'],
    operator: 'ebi',
    // Use must be fair; no number is published.
    limits: [{ requests: 1, seconds: 1 }],
    languages: ['en'],
    documentation: 'https://europepmc.org/RestfulWebService',
  },
  request: (query, { url }) =>
    getJson(
      buildUrl(url, '/search', {
        query: luceneText(query),
        format: 'json',
        resultType: 'core',
        pageSize: query.count,
        cursorMark: '*',
      }),
    ),
  parse: (answer) =>
    objectsIn(valueAt(answer, 'resultList.result')).flatMap((paper) => {
      const isNamed = [paper.source, paper.id].every((part) => typeof part === 'string' && /^\w{1,30}$/.test(part));
      const page = isNamed ? `https://europepmc.org/article/${paper.source}/${paper.id}` : '';
      const parts = [
        plainLine(paper.authorString, 200),
        plainLine(paper.journalTitle, 200),
        plainLine(paper.abstractText),
      ];
      return toHit({
        title: paper.title,
        url: typeof paper.doi === 'string' && paper.doi ? `https://doi.org/${encodeURI(paper.doi)}` : page,
        description: parts.filter(Boolean).join('. '),
        source: 'Europe PMC',
        date: paper.pubYear,
        attribution: plainLine(paper.license, 50),
      });
    }),
};
