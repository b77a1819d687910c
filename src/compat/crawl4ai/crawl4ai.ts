/** The API of crawl4ai's server. */
import type { CompatRoute, Dialect } from '../dialect.ts';
import { type StatusTable, sendJson, statusOf } from '../errors.ts';
import { crawl, crawlStream } from './crawl.ts';
import { CRAWL_FIELDS, MD_FIELDS, URL_FIELDS } from './fields.ts';
import { markdown } from './markdown.ts';
import { html, screenshot } from './one-page.ts';

const STATUSES: StatusTable = {
  SecurityCompromiseError: 400,
  HarmfulContentError: 403,
  TierFeatureConstraintError: 403,
};

const reads = (
  url: string,
  summary: string,
  fields: CompatRoute['fields'],
  handler: CompatRoute['handler'],
): CompatRoute => ({ method: 'POST', url, access: 'read', summary, fields, handler });

export const crawl4ai: Dialect = {
  name: 'crawl4ai',
  title: 'crawl4ai',
  keyPlaces: ['bearer'],
  writeError: (failure, _, reply) => sendJson(reply.code(statusOf(failure, STATUSES)), { detail: failure.message }),
  routes: [
    reads('/md', 'Reads one URL as Markdown.', MD_FIELDS, markdown),
    reads('/crawl', 'Reads up to 100 URLs without following links.', CRAWL_FIELDS, crawl),
    reads('/crawl/stream', 'Reads up to 100 URLs, and sends each result on a line.', CRAWL_FIELDS, crawlStream),
    reads('/html', 'Reads the HTML of one URL.', URL_FIELDS, html),
    reads('/screenshot', 'Takes a screenshot of one URL.', URL_FIELDS, screenshot),
    {
      method: 'GET',
      url: '/health',
      access: 'public',
      summary: 'Returns the state, the time and the version.',
      handler: ({ reply, native }) =>
        sendJson(reply, { status: 'ok', timestamp: Date.now() / 1_000, version: native.parts.version }),
    },
  ],
};
