/** Programs that call Firecrawl. */
import assert from 'node:assert/strict';
import { type Any, bearer, type Facts, ORIGIN, PAGE_TEXT, type RequestRow } from './row.ts';

const post = (path: string, body: (facts: Facts) => object) => (facts: Facts) => ({
  ...{ method: 'POST' as const, path, headers: bearer(facts) },
  body: JSON.stringify(body(facts)),
});

const isScraped = ({ success, data }: Any, { page }: Facts) => {
  assert.equal(success, true);
  assert.ok(data.markdown.includes(PAGE_TEXT));
  assert.equal(data.metadata.sourceURL, page);
};
const isFound = ({ data }: Any, { page }: Facts) => assert.equal((data.web ?? data)[0].url, page);
const isStarted = ({ success, id }: Any) => assert.deepEqual([success, typeof id], [true, 'string']);

export const FIRECRAWL_ROWS: readonly RequestRow[] = [
  {
    ...{ program: 'LibreChat', setting: 'FIRECRAWL_API_URL', value: ORIGIN, call: 'scrape' },
    request: post('/v2/scrape', ({ page }) => ({
      url: page,
      formats: ['markdown', 'rawHtml'],
      timeout: 7_500,
      parsePDF: true,
      changeTrackingOptions: {},
    })),
    check: isScraped,
  },
  {
    ...{ program: 'Dify', setting: 'base URL of Firecrawl', value: ORIGIN, call: 'scrape' },
    request: post('/v2/scrape', ({ page }) => ({ url: page, formats: ['markdown'], onlyMainContent: true })),
    check: isScraped,
  },
  {
    ...{ program: 'Dify', setting: 'base URL of Firecrawl', value: ORIGIN, call: 'crawl' },
    request: post('/v2/crawl', ({ page }) => ({ url: page, limit: 1, scrapeOptions: { onlyMainContent: true } })),
    check: isStarted,
  },
  {
    ...{ program: 'Flowise', setting: 'API URL of Firecrawl', value: ORIGIN, call: 'scrape' },
    request: post('/v1/scrape', ({ page }) => ({ url: page, formats: ['markdown'] })),
    check: isScraped,
  },
  {
    ...{ program: 'Flowise', setting: 'API URL of Firecrawl', value: ORIGIN, call: 'search' },
    request: post('/v1/search', () => ({ query: 'bees', limit: 5 })),
    check: isFound,
  },
  {
    ...{ program: 'LobeChat', setting: 'FIRECRAWL_URL', value: `${ORIGIN}/v1`, call: 'scrape' },
    request: post('/v1/scrape', ({ page }) => ({ url: page, formats: ['markdown'] })),
    check: isScraped,
  },
  {
    ...{
      program: 'n8n',
      setting: 'base URL of the Firecrawl node',
      value: `${ORIGIN}/v2`,
      call: 'test of the credential',
    },
    request: (facts) => ({ path: '/v2/team/credit-usage', headers: bearer(facts) }),
    check: ({ success }) => assert.equal(success, true),
  },
  {
    ...{ program: 'gpt-researcher', setting: 'FIRECRAWL_SERVER_URL', value: ORIGIN, call: 'scrape' },
    request: post('/v2/scrape', ({ page }) => ({ url: page, formats: ['markdown'] })),
    check: isScraped,
  },
  {
    ...{ program: 'khoj', setting: 'FIRECRAWL_API_URL', value: ORIGIN, call: 'search' },
    request: post('/v2/search', () => ({ query: 'bees', limit: 10 })),
    check: isFound,
  },
  {
    ...{ program: 'AnythingLLM', setting: 'AGENT_CRW_API_URL', value: ORIGIN, call: 'search' },
    request: post('/v1/search', () => ({ query: 'bees', limit: 5 })),
    check: isFound,
  },
];
