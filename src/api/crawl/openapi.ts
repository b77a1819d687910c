/** Crawls in the interface description of the reader, drawn from their table. */
import { CRAWL_OPTIONS } from '#crawl/index.ts';
import { bodySchema } from '#http/openapi.ts';
import { text, whole } from '../openapi/components.ts';

const orNull = (schema: object) => ({ anyOf: [schema, { type: 'null' }] });

const JOB = {
  type: 'object',
  required: ['crawl_id', 'status', 'url', 'created_at', 'completed_at', 'expires_at', 'stats', 'last_seq', 'error'],
  properties: {
    crawl_id: text('Its id.'),
    status: { enum: ['pending', 'processing', 'completed', 'failed', 'cancelled', 'expired'] },
    url: text('Where it starts.'),
    urls: { type: 'array', items: { type: 'string' }, description: 'Where it starts, when there are several places.' },
    created_at: text('ISO 8601.'),
    completed_at: orNull(text('ISO 8601.')),
    expires_at: text('When it and its pages are removed, ISO 8601.'),
    limit: whole('How many addresses are read at most.'),
    depth: whole('How many links away from where it starts.'),
    scope: { enum: ['path', 'host', 'domain'] },
    stats: {
      type: 'object',
      required: ['found', 'done', 'failed', 'skipped', 'tokens'],
      properties: {
        found: whole('Addresses found.'),
        done: whole('Pages given.'),
        failed: whole('Addresses that could not be read.'),
        skipped: whole('Addresses that robots.txt forbids, that lead elsewhere, or that are pages given already.'),
        tokens: whole('What the pages are charged.'),
      },
    },
    last_seq: whole('The number of the last outcome.'),
    error: orNull(text('Why it failed.')),
  },
};

const OUTCOME = {
  type: 'object',
  required: ['seq', 'event', 'url', 'depth'],
  properties: {
    seq: whole('Its number, from 1 without a gap.'),
    event: { enum: ['page', 'failed', 'skipped'] },
    url: text('The address.'),
    depth: whole('How many links away from the start it was found.'),
    page: { $ref: '#/components/schemas/Page' },
    status: whole('What the address was answered with, when it failed by that.'),
    error: { type: 'object', description: 'Of a failure: code, name, status and message.' },
    reason: { enum: ['duplicate', 'robots', 'scope'], description: 'Why it was skipped.' },
    of: text('Of a duplicate: the address of the page that was given.'),
    to: text('Of an address that leads out of the scope: where.'),
  },
};

export const CRAWL_SCHEMAS = { CrawlRequest: bodySchema(CRAWL_OPTIONS), Crawl: JOB, CrawlOutcome: OUTCOME };

const json = (name: string) => ({ 'application/json': { schema: { $ref: `#/components/schemas/${name}` } } });
const events = (description: string) => ({ 'text/event-stream': { schema: text(description) } });
const FAILED = { description: 'A failure; its code is the HTTP status.', content: json('Failure') };
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
  'Events as they come: `progress` (the crawl), `page`, `failed` and `skipped` (an outcome, its number as the id), at the end `done` (the crawl).';

export const CRAWL_PATHS_DESCRIBED = {
  '/crawl': {
    post: operation(
      'crawl',
      'Read a site from page to page',
      {
        202: { description: 'The crawl, begun.', content: json('Crawl') },
        200: { description: 'The crawl as it goes.', content: events(STREAM) },
      },
      { requestBody: { required: true, content: json('CrawlRequest') } },
    ),
  },
  '/crawls': {
    get: operation(
      'listCrawls',
      'The crawls of this key, newest first',
      {
        200: {
          description: 'The crawls.',
          content: {
            'application/json': { schema: { type: 'array', items: { $ref: '#/components/schemas/Crawl' } } },
          },
        },
      },
      { parameters: [query('limit', 'How many, 20 unless it is given, 100 at most.')] },
    ),
  },
  '/crawl/{id}': {
    get: operation(
      'getCrawl',
      'How a crawl stands',
      { 200: { description: 'The crawl.', content: json('Crawl') } },
      { parameters: [ID] },
    ),
    delete: operation(
      'cancelCrawl',
      'End a crawl; what was read stays',
      { 200: { description: 'The crawl, ended.', content: json('Crawl') } },
      { parameters: [ID] },
    ),
  },
  '/crawl/{id}/pages': {
    get: operation(
      'crawlPages',
      'What became of each address, as far as it is known now; as a stream of events until the crawl has ended',
      {
        200: {
          description: 'The outcomes in their order, a JSON object a line.',
          content: {
            'application/x-ndjson': { schema: { $ref: '#/components/schemas/CrawlOutcome' } },
            ...events(STREAM),
          },
        },
      },
      { parameters: [ID, query('after', 'Only outcomes behind this number.')] },
    ),
  },
};
