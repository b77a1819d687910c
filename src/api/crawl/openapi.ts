/** The part of the reader's OpenAPI document for crawls, made from the table of crawl options. */
import { CRAWL_OPTIONS } from '#crawl/index.ts';
import { bodySchema } from '#http/openapi.ts';
import { integer, text } from '../openapi/components.ts';

const orNull = (schema: object) => ({ anyOf: [schema, { type: 'null' }] });

const JOB = {
  type: 'object',
  required: ['crawl_id', 'status', 'url', 'created_at', 'completed_at', 'expires_at', 'stats', 'last_seq', 'error'],
  properties: {
    crawl_id: text('The id of the crawl.'),
    status: { enum: ['pending', 'processing', 'completed', 'failed', 'cancelled', 'expired'] },
    url: text('The start URL.'),
    urls: { type: 'array', items: { type: 'string' }, description: 'The start URLs, if there are several.' },
    created_at: text('ISO 8601.'),
    completed_at: orNull(text('ISO 8601.')),
    expires_at: text('When the crawl and its pages are deleted, ISO 8601.'),
    limit: integer('Maximum number of URLs to read.'),
    depth: integer('Maximum number of links from a start URL.'),
    scope: { enum: ['path', 'host', 'domain'] },
    stats: {
      type: 'object',
      required: ['found', 'done', 'failed', 'skipped', 'tokens'],
      properties: {
        found: integer('URLs found.'),
        done: integer('Pages read.'),
        failed: integer('URLs that could not be read.'),
        skipped: integer('URLs that robots.txt forbids, that redirect out of scope, or whose page was read already.'),
        tokens: integer('Tokens charged for the pages.'),
      },
    },
    last_seq: integer('The number of the last outcome.'),
    error: orNull(text('Why the crawl failed.')),
  },
};

const OUTCOME = {
  type: 'object',
  required: ['seq', 'event', 'url', 'depth'],
  properties: {
    seq: integer('Its number, counted from 1 without gaps.'),
    event: { enum: ['page', 'failed', 'skipped'] },
    url: text('The URL.'),
    depth: integer('Number of links from the start URL.'),
    page: { $ref: '#/components/schemas/Page' },
    status: integer('The HTTP status, if it was the reason of the failure.'),
    error: { type: 'object', description: 'For a failure: code, name, status and message.' },
    reason: { enum: ['duplicate', 'robots', 'scope'], description: 'Why it was skipped.' },
    of: text('For a duplicate: the URL of the page that was read.'),
    to: text('For a redirect out of scope: its target.'),
  },
};

export const CRAWL_SCHEMAS = { CrawlRequest: bodySchema(CRAWL_OPTIONS), Crawl: JOB, CrawlOutcome: OUTCOME };

const json = (name: string) => ({ 'application/json': { schema: { $ref: `#/components/schemas/${name}` } } });
const events = (description: string) => ({ 'text/event-stream': { schema: text(description) } });
const FAILED = { description: 'A failure. Its `code` is the HTTP status.', content: json('Failure') };
const ID = { name: 'id', in: 'path', required: true, description: 'The id of the crawl.', schema: { type: 'string' } };

const operation = (operationId: string, summary: string, answers: object, extra: object = {}) => ({
  operationId,
  summary,
  security: [{ key: [] }],
  responses: { ...answers, default: FAILED },
  ...extra,
});
const query = (name: string, description: string) => ({
  name,
  in: 'query',
  required: false,
  description,
  schema: { type: 'integer' },
});

const STREAM =
  'Events: `progress` (the crawl), `page`, `failed` and `skipped` (an outcome; the event id is its number), and finally `done` (the crawl).';

export const CRAWL_OPERATIONS = {
  '/crawl': {
    post: operation(
      'crawl',
      'Crawl a site',
      {
        202: { description: 'The crawl was started.', content: json('Crawl') },
        200: { description: 'With Accept: text/event-stream: the progress of the crawl.', content: events(STREAM) },
      },
      { requestBody: { required: true, content: json('CrawlRequest') } },
    ),
  },
  '/crawls': {
    get: operation(
      'listCrawls',
      'List the crawls of this key, newest first',
      {
        200: {
          description: 'The crawls.',
          content: {
            'application/json': { schema: { type: 'array', items: { $ref: '#/components/schemas/Crawl' } } },
          },
        },
      },
      { parameters: [query('limit', 'Maximum number of crawls, 1 to 100. Default: 20.')] },
    ),
  },
  '/crawl/{id}': {
    get: operation(
      'getCrawl',
      'Get a crawl',
      { 200: { description: 'The crawl.', content: json('Crawl') } },
      { parameters: [ID] },
    ),
    delete: operation(
      'cancelCrawl',
      'Cancel a crawl. The pages read so far are kept',
      { 200: { description: 'The cancelled crawl.', content: json('Crawl') } },
      { parameters: [ID] },
    ),
  },
  '/crawl/{id}/pages': {
    get: operation(
      'crawlPages',
      'Get the outcomes so far, or follow them as a stream of events until the crawl has ended',
      {
        200: {
          description: 'The outcomes in order, one JSON object per line.',
          content: {
            'application/x-ndjson': { schema: { $ref: '#/components/schemas/CrawlOutcome' } },
            ...events(STREAM),
          },
        },
      },
      { parameters: [ID, query('after', 'Only outcomes with a higher number.')] },
    ),
  },
};
