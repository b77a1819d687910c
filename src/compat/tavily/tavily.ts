/** Tavily's API: `/search`, `/extract`, `/crawl`, `/map` and `/usage`. */
import { problem } from '#errors.ts';
import type { CompatRoute, Dialect } from '../dialect.ts';
import { crawl, map } from './crawl.ts';
import { writeTavilyError } from './errors.ts';
import { extract } from './extract.ts';
import { CRAWL_FIELDS, EXTRACT_FIELDS, MAP_FIELDS, SEARCH_FIELDS } from './fields.ts';
import { search } from './search.ts';
import { usage } from './usage.ts';

const ABSENT = ['/research', '/feedback'];

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
    {
      method: 'POST',
      url: '/crawl',
      access: 'jobs',
      summary: 'Reads the pages of a site, and waits for the end.',
      fields: CRAWL_FIELDS,
      handler: crawl,
    },
    {
      method: 'POST',
      url: '/map',
      access: 'jobs',
      summary: 'Lists the URLs of a site, and waits for the end.',
      fields: MAP_FIELDS,
      handler: map,
    },
    { method: 'GET', url: '/usage', access: 'jobs', summary: 'Returns the tokens used.', handler: usage },
    ...ABSENT.map(absent),
  ],
};
