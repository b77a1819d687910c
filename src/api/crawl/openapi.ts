/** The part of the reader's OpenAPI document for crawls, generated from the table of crawl options. */
import { CRAWL_OPTIONS } from '#crawl/index.ts';
import { PROBLEMS } from '#errors.ts';
import { bodySchema } from '#http/openapi.ts';
import { integer, ref, text } from '../openapi/components.ts';
import { CRAWL_FAILURES, failureResponses } from '../openapi/failures.ts';
import {
  CRAWL_EVENTS_EXAMPLE,
  CRAWL_EXAMPLE,
  CRAWL_ID,
  FINISHED_CRAWL,
  OUTCOME_EXAMPLE,
  STARTED_CRAWL,
} from './examples.ts';

const time = (description: string) => ({ type: 'string', format: 'date-time', description });
const orNull = (schema: object) => ({ anyOf: [schema, { type: 'null' }] });

const JOB = {
  type: 'object',
  required: ['crawl_id', 'status', 'url', 'created_at', 'completed_at', 'expires_at', 'stats', 'last_seq', 'error'],
  properties: {
    crawl_id: text('The id of the crawl.'),
    status: { enum: ['pending', 'processing', 'completed', 'failed', 'cancelled', 'expired'] },
    url: text('The start URL.'),
    urls: { type: 'array', items: { type: 'string' }, description: 'The start URLs, if there are several.' },
    created_at: time('ISO 8601.'),
    completed_at: orNull(time('ISO 8601.')),
    expires_at: time('When the crawl and its pages are deleted, ISO 8601.'),
    limit: integer('Maximum number of URLs to read.'),
    depth: integer('Maximum number of links from a start URL.'),
    scope: { enum: ['path', 'host', 'domain'] },
    stats: {
      type: 'object',
      required: ['found', 'done', 'failed', 'skipped', 'tokens'],
      properties: {
        found: integer('URLs found.'),
        done: integer('Pages read.'),
        failed: integer('Number of URLs that could not be read.'),
        skipped: integer(
          'Number of URLs that robots.txt forbids, that redirect out of scope, or whose page was read already.',
        ),
        tokens: integer('Number of tokens charged for the pages.'),
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
    seq: integer('The number of the outcome, counted from 1 without gaps.'),
    event: { enum: ['page', 'failed', 'skipped'] },
    url: text('The URL.'),
    depth: integer('Number of links from the start URL.'),
    page: { $ref: '#/components/schemas/Page' },
    status: integer('The HTTP status of the page, if it caused the failure.'),
    error: {
      type: 'object',
      description: 'Why the URL failed.',
      required: ['code', 'name', 'status', 'message'],
      properties: {
        code: integer('The HTTP status of such a failure.'),
        name: { enum: Object.keys(PROBLEMS), description: 'The kind of failure.' },
        status: integer('The HTTP status, followed by two digits for the kind of failure.'),
        message: text('A description of the failure.'),
      },
    },
    reason: { enum: ['duplicate', 'robots', 'scope'], description: 'Why the URL was skipped.' },
    of: text('For a duplicate: the URL of the page that was read.'),
    to: text('For a redirect out of scope: its target.'),
  },
};

export const CRAWL_SCHEMAS = { CrawlRequest: bodySchema(CRAWL_OPTIONS), Crawl: JOB, CrawlOutcome: OUTCOME };

const events = (example: string) => ({ 'text/event-stream': { schema: text(STREAM), example } });
const json = (schema: object, example: unknown) => ({ 'application/json': { schema, example } });
const ID = {
  name: 'id',
  in: 'path',
  required: true,
  description: 'The id of the crawl.',
  schema: { type: 'string' },
  example: CRAWL_ID,
};

const operation = (operationId: string, summary: string, answers: object, extra: object = {}) => ({
  operationId,
  summary,
  tags: ['Crawl'],
  security: [{ key: [] }],
  responses: { ...answers, ...failureResponses(CRAWL_FAILURES) },
  ...extra,
});
const query = (name: string, description: string, schema: object) => ({
  name,
  in: 'query',
  required: false,
  description,
  schema: { type: 'integer', ...schema },
});

const STREAM =
  'Events: `progress` (the crawl), `page`, `failed` and `skipped` (an outcome; the event id is its number), and finally `done` (the crawl).';

export const CRAWL_OPERATIONS = {
  '/crawl': {
    post: operation(
      'crawl_start',
      'Crawl a site',
      {
        202: {
          description: 'The crawl was started.',
          headers: { Location: { schema: { type: 'string' }, description: 'The path of the crawl.' } },
          content: json(ref('Crawl'), STARTED_CRAWL),
        },
        200: {
          description: 'With Accept: text/event-stream: the progress of the crawl.',
          content: events(CRAWL_EVENTS_EXAMPLE),
        },
      },
      { requestBody: { required: true, content: json(ref('CrawlRequest'), CRAWL_EXAMPLE) } },
    ),
  },
  '/crawls': {
    get: operation(
      'crawl_list',
      'List the crawls of this key, newest first',
      {
        200: {
          description: 'The crawls.',
          content: json({ type: 'array', items: ref('Crawl') }, [FINISHED_CRAWL]),
        },
      },
      { parameters: [query('limit', 'Maximum number of crawls.', { minimum: 1, maximum: 100, default: 20 })] },
    ),
  },
  '/crawl/{id}': {
    get: operation(
      'crawl_get',
      'Get a crawl',
      { 200: { description: 'The crawl.', content: json(ref('Crawl'), FINISHED_CRAWL) } },
      { parameters: [ID] },
    ),
    delete: operation(
      'crawl_cancel',
      'Cancel a crawl. The pages read so far are kept',
      { 200: { description: 'The cancelled crawl.', content: json(ref('Crawl'), FINISHED_CRAWL) } },
      { parameters: [ID] },
    ),
  },
  '/crawl/{id}/pages': {
    get: operation(
      'crawl_pages',
      'Get the outcomes so far, or follow them as a stream of events until the crawl has ended',
      {
        200: {
          description: 'The outcomes in order, one JSON object per line.',
          content: {
            'application/x-ndjson': { schema: ref('CrawlOutcome'), example: OUTCOME_EXAMPLE },
            ...events(CRAWL_EVENTS_EXAMPLE),
          },
        },
      },
      { parameters: [ID, query('after', 'Return only outcomes with a higher number.', { minimum: 0, default: 0 })] },
    ),
  },
};
