/** Open Library, a catalogue of books: https://openlibrary.org/dev/docs/api/search */
import { objectsIn, plainLine, toHit, valueAt } from '../fields.ts';
import { NO_OPERATOR } from '../operators.ts';
import { buildUrl, getJson, type Provider } from '../provider.ts';
import { plainWords } from '../query.ts';
import { ISBN } from './identifiers.ts';

const FIELDS = 'key,title,author_name,first_publish_year,edition_count';

export const openlibrary: Provider = {
  name: 'openlibrary',
  kinds: ['web'],
  needsKey: false,
  url: 'https://openlibrary.org',
  paging: 'exact',
  maxCount: 50,
  operators: NO_OPERATOR,
  source: {
    groups: ['books'],
    operator: 'openlibrary',
    // The catalogue publishes no number, but asks for no bulk requests.
    limits: [{ requests: 1, seconds: 1 }],
    contact: 'welcome',
    hosts: ['openlibrary.org'],
    documentation: 'https://openlibrary.org/dev/docs/api/search',
  },
  request(query, { url }) {
    const found = ISBN.exec(query.words);
    const isbn = found && (found[1] ?? found[0]).replace(/[^\dx]/gi, '');
    const q = isbn ? `isbn:${isbn}` : plainWords(query);
    return getJson(buildUrl(url, '/search.json', { q, page: query.page, limit: query.count, fields: FIELDS }));
  },
  parse: (answer) =>
    objectsIn(valueAt(answer, 'docs')).flatMap((book) => {
      const key = typeof book.key === 'string' && /^\/works\/\w{1,30}$/.test(book.key) ? book.key : '';
      const authors = Array.isArray(book.author_name)
        ? book.author_name.slice(0, 5).map((name) => plainLine(name))
        : [];
      const year = plainLine(book.first_publish_year, 10);
      const editions = plainLine(book.edition_count, 10);
      const parts = [authors.join(', '), year && `first published in ${year}`, editions && `editions: ${editions}`];
      return toHit({
        title: book.title,
        url: key && `https://openlibrary.org${key}`,
        description: parts.filter(Boolean).join(', '),
        source: 'Open Library',
        date: year,
      });
    }),
};
