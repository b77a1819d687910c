/** arXiv, preprints in physics, mathematics and computer science: https://info.arxiv.org/help/api/user-manual.html */
import { toHit } from '../fields.ts';
import { NO_OPERATOR } from '../operators.ts';
import { buildUrl, type Provider } from '../provider.ts';
import type { SearchQuery } from '../query.ts';
import { plainWords } from '../query.ts';
import { readAtom } from './atom.ts';
import { ARXIV_ID } from './identifiers.ts';

const MAX_TERMS = 30;
const MAX_AUTHORS = 5;

export const arxiv: Provider = {
  name: 'arxiv',
  kinds: ['web'],
  needsKey: false,
  url: 'https://export.arxiv.org',
  paging: 'exact',
  maxCount: 50,
  operators: NO_OPERATOR,
  takesDates: true,
  format: 'text',
  source: {
    groups: ['papers'],
    operator: 'arxiv',
    limits: [{ requests: 1, seconds: 3 }],
    hosts: ['arxiv.org'],
    languages: ['en'],
    documentation: 'https://info.arxiv.org/help/api/tou.html',
  },
  request(query, { url }) {
    const { count, page } = query;
    const [, id] = ARXIV_ID.exec(query.words) ?? [];
    const parameters = {
      ...(id === undefined
        ? { search_query: searchText(query), sortBy: 'relevance', sortOrder: 'descending' }
        : { id_list: id }),
      start: (page - 1) * count,
      max_results: count,
    };
    return { url: buildUrl(url, '/api/query', parameters), method: 'GET', headers: { accept: 'application/atom+xml' } };
  },
  inspect: (answer) => (readAtom(String(answer)) ? {} : { error: 'sent a response that is not Atom' }),
  parse: (answer) =>
    (typeof answer === 'string' ? (readAtom(answer) ?? []) : []).flatMap((entry) => {
      const id = entry.text('id');
      // An error is an entry whose id is not that of a paper.
      if (!id.includes('/abs/')) return [];
      const authors = entry.texts('name');
      const named = authors.slice(0, MAX_AUTHORS).join(', ') + (authors.length > MAX_AUTHORS ? ' and others' : '');
      return toHit({
        title: entry.text('title'),
        url: id.replace(/^http:/, 'https:').replace(/v\d+$/, ''),
        description: [named, entry.text('summary')].filter(Boolean).join('. '),
        source: 'arXiv',
        date: entry.text('published'),
      });
    }),
};

/** Every word must occur. Punctuation has a meaning in the syntax of arXiv, so only letters and digits are sent. */
function searchText(query: SearchQuery): string {
  const words = plainWords(query)
    .split(/[^\p{L}\p{N}.+-]+/u)
    .map((word) => word.replace(/^[^\p{L}\p{N}]+|[^\p{L}\p{N}]+$/gu, ''))
    .filter(Boolean)
    .slice(0, MAX_TERMS);
  const terms = words.map((word) => `all:${word}`);
  const { since, until } = query;
  if (since !== undefined || until !== undefined)
    terms.push(`submittedDate:[${moment(since ?? FIRST)} TO ${moment(until ?? Date.now())}]`);
  return terms.join(' AND ');
}

/** The year in which arXiv began. */
const FIRST = Date.UTC(1991, 0, 1);
/** Formats a time as `202601312359`. */
const moment = (ms: number) => new Date(ms).toISOString().replace(/\D/g, '').slice(0, 12);
