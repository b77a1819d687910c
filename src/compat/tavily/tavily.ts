/** Tavily's API: `/search` and `/extract`. */
import { problem } from '#errors.ts';
import type { CompatRoute, Dialect } from '../dialect.ts';
import { writeTavilyError } from './errors.ts';
import { extract } from './extract.ts';
import { EXTRACT_FIELDS, SEARCH_FIELDS } from './fields.ts';
import { search } from './search.ts';

const ABSENT = ['/crawl', '/map', '/research', '/feedback'];

const absent = (url: string): CompatRoute => ({
  method: 'POST',
  url,
  access: 'public',
  summary: 'Not offered: the answer is 404.',
  handler: () => {
    throw problem('RouteNotFoundError', { message: `Lectern does not have ${url} of Tavily` });
  },
});

export const tavily: Dialect = {
  name: 'tavily',
  title: 'Tavily',
  keyPlaces: ['bearer', { bodyField: 'api_key' }],
  writeError: writeTavilyError,
  routes: [
    {
      method: 'POST',
      url: '/search',
      access: 'search',
      summary: 'Searches; reads the pages if asked for raw content or advanced depth.',
      fields: SEARCH_FIELDS,
      handler: search,
    },
    {
      method: 'POST',
      url: '/extract',
      access: 'read',
      summary: 'Reads up to 20 URLs.',
      fields: EXTRACT_FIELDS,
      handler: extract,
    },
    ...ABSENT.map(absent),
  ],
};
