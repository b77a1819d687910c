/** Serper's API: searches, and the scraper. */
import type { CompatRoute, Dialect } from '../dialect.ts';
import { type StatusTable, sendJson, statusOf } from '../errors.ts';
import { SCRAPE_FIELDS, SEARCH_FIELDS } from './fields.ts';
import { scrape } from './scrape.ts';
import { noVideos, search } from './search.ts';

const STATUSES: StatusTable = {
  SecurityCompromiseError: 400,
  HarmfulContentError: 403,
  TierFeatureConstraintError: 403,
};

const searchRoute = (url: string, summary: string, handler: CompatRoute['handler']): CompatRoute => ({
  ...{ method: 'POST', url, access: 'search', summary, handler },
  fields: SEARCH_FIELDS,
});

export const serper: Dialect = {
  name: 'serper',
  title: 'Serper',
  keyPlaces: [{ header: 'x-api-key' }],
  writeError: (failure, _, reply) => {
    const statusCode = statusOf(failure, STATUSES);
    return sendJson(reply.code(statusCode), { message: failure.message, statusCode });
  },
  routes: [
    searchRoute('/search', 'Searches without reading pages.', search('search')),
    searchRoute('/images', 'Searches for images.', search('images')),
    searchRoute('/news', 'Searches for news.', search('news')),
    searchRoute('/videos', 'Returns an empty list: there is no video search.', noVideos),
    {
      method: 'POST',
      url: '/scrape',
      access: 'read',
      summary: 'Reads one URL.',
      fields: SCRAPE_FIELDS,
      handler: scrape,
    },
  ],
};
