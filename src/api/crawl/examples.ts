/** Example requests and responses for crawls. The responses were recorded from a server. */
import { exampleEvent } from '../openapi/event-text.ts';
import { EXAMPLE_PAGE } from '../reader/examples.ts';

export const CRAWL_ID = 'crawl_01m84evms8wzn8499br8skhrwz';
const URL = 'https://example.com/';

export const CRAWL_EXAMPLE = { url: URL, limit: 2, depth: 1 };

export const STARTED_CRAWL = {
  crawl_id: CRAWL_ID,
  status: 'pending',
  url: URL,
  created_at: '2026-11-23T15:02:13Z',
  completed_at: null,
  expires_at: '2026-11-30T15:02:13Z',
  limit: 2,
  depth: 1,
  scope: 'path',
  stats: { found: 1, done: 0, failed: 0, skipped: 0, tokens: 0 },
  last_seq: 0,
  error: null,
};

export const FINISHED_CRAWL = {
  ...STARTED_CRAWL,
  status: 'completed',
  completed_at: '2026-11-23T15:02:15Z',
  stats: { found: 2, done: 1, failed: 0, skipped: 1, tokens: 14 },
  last_seq: 2,
};

export const OUTCOME_EXAMPLE = { seq: 1, event: 'page', url: URL, depth: 0, page: EXAMPLE_PAGE };

export const CRAWL_EVENTS_EXAMPLE = `${exampleEvent('progress', STARTED_CRAWL)}id: 1\n${exampleEvent('page', OUTCOME_EXAMPLE)}${exampleEvent('done', FINISHED_CRAWL)}`;
