/** Internet Archive, books, recordings, films and software: https://archive.org/help/aboutsearch.htm */
import { objectsIn, plainLine, toHit, valueAt } from '../fields.ts';
import { NO_OPERATOR } from '../operators.ts';
import { buildUrl, getJson, type Provider } from '../provider.ts';
import { luceneText } from '../query.ts';

const FIELDS = ['identifier', 'title', 'description', 'creator', 'date', 'mediatype'];

export const internetarchive: Provider = {
  name: 'internetarchive',
  kinds: ['web'],
  needsKey: false,
  url: 'https://archive.org',
  paging: 'exact',
  maxCount: 50,
  operators: NO_OPERATOR,
  source: {
    groups: ['books'],
    operator: 'archive.org',
    // The archive publishes no number.
    limits: [{ requests: 1, seconds: 2 }],
    hosts: ['archive.org'],
    documentation: 'https://archive.org/help/aboutsearch.htm',
  },
  request(query, { url }) {
    const { count, page } = query;
    const made = buildUrl(url, '/advancedsearch.php', { q: luceneText(query), rows: count, page, output: 'json' });
    for (const field of FIELDS) made.searchParams.append('fl[]', field);
    return getJson(made);
  },
  parse: (answer) =>
    objectsIn(valueAt(answer, 'response.docs')).flatMap((item) => {
      const id = typeof item.identifier === 'string' && /^[\w.-]{1,200}$/.test(item.identifier) ? item.identifier : '';
      const [title, creator, description] = [item.title, item.creator, item.description].map(firstOf);
      return toHit({
        title,
        url: id && `https://archive.org/details/${id}`,
        description: [plainLine(item.mediatype, 30), plainLine(creator, 200), plainLine(description)]
          .filter(Boolean)
          .join('. '),
        source: 'Internet Archive',
        date: item.date,
      });
    }),
};

/** A field with several values is an array. */
const firstOf = (value: unknown): unknown => (Array.isArray(value) ? value[0] : value);
