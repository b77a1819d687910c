/** Firecrawl's API, versions 1 and 2: two dialects over one mapping. */
import { problem } from '#errors.ts';
import type { CompatMethod, CompatRoute, Dialect } from '../dialect.ts';
import { writeFirecrawlError } from './errors.ts';
import { showExtract, startExtract } from './extract.ts';
import {
  BATCH_FIELDS,
  CRAWL_FIELDS,
  EXTRACT_FIELDS,
  MAP_FIELDS,
  SCRAPE_FIELDS,
  SCRAPE_OPTIONS,
  SEARCH_FIELDS,
  type Version,
} from './fields.ts';
import { map } from './map.ts';
import { parse } from './parse.ts';
import { cancelJob, listActive, showErrors } from './read-jobs.ts';
import { scrape } from './scrape.ts';
import { search } from './search.ts';
import { startBatch } from './start-batch.ts';
import { startCrawl } from './start-crawl.ts';
import { showConcurrency, showQueue, showUsage } from './team.ts';
import { watchOrShow } from './watch.ts';

/** Paths of the original that are not offered, in both versions. */
const ABSENT = [
  ...['/agent', '/agent/:id', '/browser', '/browser/:id', '/interact', '/scrape/:id/interact', '/monitor'],
  ...['/monitor/:id', '/deep-research', '/deep-research/:id', '/llmstxt', '/llmstxt/:id', '/crawl/params-preview'],
  ...['/research', '/feedback'],
];
const ANY_METHOD: readonly CompatMethod[] = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'];

const absent = (url: string, version: Version): CompatRoute => ({
  method: url === '/crawl/params-preview' ? ['POST'] : ANY_METHOD,
  url,
  access: 'public',
  summary: 'Not offered: the answer is 404.',
  handler: () => {
    throw problem('RouteNotFoundError', { message: `Lectern does not have /${version}${url} of Firecrawl` });
  },
});

const routesOf = (version: Version): CompatRoute[] =>
  [
    {
      method: 'POST' as const,
      url: '/scrape',
      access: 'read' as const,
      summary: 'Reads a page.',
      fields: SCRAPE_FIELDS,
      handler: scrape(version),
    },
    {
      method: 'POST' as const,
      url: '/map',
      access: 'read' as const,
      summary: 'Lists the URLs of a site.',
      fields: MAP_FIELDS,
      handler: map(version),
    },
    {
      method: 'POST' as const,
      url: '/search',
      access: 'search' as const,
      summary: 'Searches; reads the pages if asked for their formats.',
      fields: SEARCH_FIELDS,
      handler: search(version),
    },
    {
      method: 'POST' as const,
      url: '/batch/scrape',
      access: 'jobs' as const,
      summary: 'Reads many pages as a job.',
      fields: BATCH_FIELDS,
      handler: startBatch(version),
    },
    {
      method: 'POST' as const,
      url: '/crawl',
      access: 'jobs' as const,
      summary: 'Crawls a site as a job.',
      fields: CRAWL_FIELDS,
      handler: startCrawl(version),
    },
    ...['/crawl/active', '/crawl/ongoing'].map((url) => ({
      method: 'GET' as const,
      url,
      access: 'jobs' as const,
      summary: 'Lists the crawls that have not ended.',
      handler: listActive,
    })),
    ...['/crawl/:id', '/batch/scrape/:id'].flatMap((url) => [
      {
        method: 'GET' as const,
        url,
        access: 'jobs' as const,
        summary: 'Shows a job with its documents; as a WebSocket, sends them as they are read.',
        handler: watchOrShow(version),
      },
      {
        method: 'DELETE' as const,
        url,
        access: 'jobs' as const,
        summary: 'Cancels a job. What was read is kept.',
        handler: cancelJob,
      },
      {
        method: 'GET' as const,
        url: `${url}/errors`,
        access: 'jobs' as const,
        summary: 'Lists what a job could not read.',
        handler: showErrors,
      },
    ]),
    {
      method: 'POST' as const,
      url: '/extract',
      access: 'jobs' as const,
      summary: 'Extracts structured data from pages, by a language model.',
      fields: EXTRACT_FIELDS,
      handler: startExtract(version),
    },
    {
      method: 'GET' as const,
      url: '/extract/:id',
      access: 'jobs' as const,
      summary: 'Shows the data of an extraction.',
      handler: showExtract,
    },
    ...(['credit', 'token'] as const).map((unit) => ({
      method: 'GET' as const,
      url: `/team/${unit}-usage`,
      access: 'jobs' as const,
      summary: 'Shows the balance of the account.',
      handler: showUsage(unit, version),
    })),
    {
      method: 'GET' as const,
      url: '/team/queue-status',
      access: 'jobs' as const,
      summary: 'Shows how many jobs wait and run.',
      handler: showQueue,
    },
    {
      method: 'GET' as const,
      url: '/concurrency-check',
      access: 'jobs' as const,
      summary: 'Shows how many jobs run.',
      handler: showConcurrency,
    },
    ...ABSENT.map((url) => absent(url, version)),
  ].map((route) => ({ ...route, url: `/${version}${route.url}` }));

export const firecrawl: Dialect = {
  name: 'firecrawl',
  title: 'Firecrawl',
  // Browsers cannot send headers with a WebSocket, so clients send the key as its subprotocol.
  keyPlaces: ['bearer', { header: 'sec-websocket-protocol' }],
  writeError: writeFirecrawlError,
  routes: [
    ...routesOf('v2'),
    ...routesOf('v1'),
    {
      method: 'POST',
      url: '/v2/parse',
      access: 'read',
      summary: 'Converts a file.',
      fields: SCRAPE_OPTIONS,
      handler: parse,
    },
  ],
};
