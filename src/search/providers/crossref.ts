/** Crossref, metadata of most papers and their DOIs: https://www.crossref.org/documentation/retrieve-metadata/rest-api/ */
import { objectsIn, plainLine, toHit, valueAt } from '../fields.ts';
import { NO_OPERATOR } from '../operators.ts';
import { buildUrl, getJson, type Provider } from '../provider.ts';
import { plainWords } from '../query.ts';
import { DOI } from './identifiers.ts';

const FIELDS = 'DOI,title,author,container-title,URL,issued,abstract,type';
const MAX_AUTHORS = 5;

export const crossref: Provider = {
  name: 'crossref',
  kinds: ['web'],
  needsKey: false,
  url: 'https://api.crossref.org',
  paging: 'exact',
  maxCount: 50,
  operators: NO_OPERATOR,
  takesDates: true,
  source: {
    groups: ['papers'],
    operator: 'crossref',
    // The limits are in the headers of each response. This is below all of them.
    limits: [{ requests: 1, seconds: 1 }],
    contact: 'welcome',
    documentation: 'https://www.crossref.org/documentation/retrieve-metadata/rest-api/access-and-authentication/',
  },
  request(query, { url, email }) {
    const { count, page, since, until } = query;
    const [, doi] = DOI.exec(query.words) ?? [];
    if (doi !== undefined && page === 1)
      return getJson(buildUrl(url, `/works/${encodeURIComponent(doi)}`, { mailto: email }));
    const filters = [
      ...(since === undefined ? [] : [`from-pub-date:${day(since)}`]),
      ...(until === undefined ? [] : [`until-pub-date:${day(until - 1)}`]),
    ];
    return getJson(
      buildUrl(url, '/works', {
        query: plainWords(query),
        rows: count,
        offset: (page - 1) * count,
        select: FIELDS,
        filter: filters.join(',') || undefined,
        mailto: email,
      }),
    );
  },
  parse(answer) {
    const items = valueAt(answer, 'message.items');
    return objectsIn(items ?? [valueAt(answer, 'message')]).flatMap((work) => {
      const authors = objectsIn(work.author).map(({ given, family, name }) =>
        [given, family, name].filter((part) => typeof part === 'string').join(' '),
      );
      const named = authors.slice(0, MAX_AUTHORS).join(', ') + (authors.length > MAX_AUTHORS ? ' and others' : '');
      const parts = [named, plainLine(valueAt(work, 'container-title.0'), 200), plainLine(work.abstract)];
      return toHit({
        title: valueAt(work, 'title.0'),
        url: typeof work.DOI === 'string' ? `https://doi.org/${encodeURI(work.DOI)}` : work.URL,
        description: parts.filter(Boolean).join('. '),
        source: 'Crossref',
        date: dateOf(valueAt(work, 'issued.date-parts.0')),
      });
    });
  },
};

const day = (ms: number) => new Date(ms).toISOString().slice(0, 10);

/** Formats `[2026, 1, 31]`, whose month and day may be missing. */
function dateOf(parts: unknown): string | undefined {
  if (!Array.isArray(parts)) return undefined;
  const numbers = parts.slice(0, 3).filter((part): part is number => Number.isInteger(part) && part > 0);
  return numbers.map((part, at) => String(part).padStart(at === 0 ? 4 : 2, '0')).join('-') || undefined;
}
