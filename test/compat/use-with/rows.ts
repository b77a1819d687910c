/**
 * Programs that work with the compat API after a change of one setting: the calls that the tests make, and what they
 * check. `docs/guide/use-with.md` is generated from these rows. A new program or call is one row.
 */
import assert from 'node:assert/strict';
import { DOCUMENT_ROWS } from './document-rows.ts';
import { FIRECRAWL_ROWS } from './firecrawl-rows.ts';
import { MODEL_ROWS } from './model-rows.ts';
import {
  type Any,
  bearer,
  type ClientRow,
  type Facts,
  JSON_TYPE,
  ORIGIN,
  PAGE_TEXT,
  type RequestRow,
  type Row,
  type SentRequest,
} from './row.ts';
import { TESTED_ROWS } from './tested-rows.ts';

/** A list of SearXNG has the page as its first result, and all of the lists that clients read. */
const isSearxngList = (answer: Any, { page }: Facts) => {
  assert.equal(answer.results[0].url, page);
  assert.equal(typeof answer.results[0].content, 'string');
  for (const list of ['answers', 'infoboxes', 'suggestions']) assert.ok(Array.isArray(answer[list]), list);
};

/** SearXNG's API is sent no key, so the operator must admit its clients (LECTERN_COMPAT_KEYLESS). */
const searxng = (program: string, setting: string, value: string, request: SentRequest): RequestRow => ({
  ...{ program, setting, value, call: 'search' },
  request: () => request,
  check: isSearxngList,
});

const TAVILY = { setting: 'apiBaseURL', value: ORIGIN };

export const CLIENT_ROWS: readonly ClientRow[] = [
  {
    ...{ program: '@tavily/core', ...TAVILY, client: 'tavily', call: 'search' },
    check: ({ results, images, responseTime, requestId }, { page }) => {
      assert.equal(results[0].url, page);
      assert.ok(results[0].rawContent.includes(PAGE_TEXT));
      assert.deepEqual(images, []);
      assert.deepEqual([typeof responseTime, typeof requestId], ['number', 'string']);
    },
  },
  {
    ...{ program: '@tavily/core', ...TAVILY, client: 'tavily', call: 'extract' },
    check: ({ results, failedResults }, { page }) => {
      assert.equal(results[0].url, page);
      assert.ok(results[0].rawContent.includes(PAGE_TEXT));
      assert.equal(failedResults.length, 1);
    },
  },
  {
    ...{ program: '@tavily/core', ...TAVILY, client: 'tavily', call: 'crawl' },
    check: ({ baseUrl, results }, { page }) => {
      assert.equal(baseUrl, page);
      assert.ok(results[0].rawContent.includes(PAGE_TEXT));
    },
  },
  {
    ...{ program: '@tavily/core', ...TAVILY, client: 'tavily', call: 'map' },
    check: ({ results }, { page }) => assert.ok(results.includes(page)),
  },
  {
    ...{ program: '@tavily/core', ...TAVILY, client: 'tavily', call: 'errors of a wrong key' },
    check: ({ message }) => assert.match(message, /key is unknown/),
  },
  {
    ...{ program: 'LangChain (@langchain/tavily)', setting: 'apiBaseUrl', value: ORIGIN },
    ...{ client: 'langchainTavily', call: 'TavilySearch' },
    check: ({ results }, { page }) => assert.equal(results[0].url, page),
  },
  {
    ...{ program: 'LangChain (@langchain/tavily)', setting: 'apiBaseUrl', value: ORIGIN },
    ...{ client: 'langchainTavily', call: 'TavilyExtract' },
    check: ({ results }) => assert.ok(results[0].raw_content.includes(PAGE_TEXT)),
  },
  {
    ...{ program: 'LangChain (@langchain/tavily)', setting: 'apiBaseUrl', value: ORIGIN },
    ...{ client: 'langchainTavily', call: 'TavilyCrawl' },
    check: ({ results }) => assert.ok(results[0].raw_content.includes(PAGE_TEXT)),
  },
  {
    ...{ program: 'LangChain (@langchain/tavily)', setting: 'apiBaseUrl', value: ORIGIN },
    ...{ client: 'langchainTavily', call: 'TavilyMap' },
    check: ({ results }, { page }) => assert.ok(results.includes(page)),
  },
  {
    ...{ program: 'LangChain (@langchain/community)', setting: 'apiBase', value: ORIGIN },
    ...{ client: 'langchainSearxng', call: 'SearxngSearch' },
    check: (text, { page }) => assert.equal(JSON.parse(text).link, page),
  },
  {
    ...{ program: 'Vercel AI SDK (@tavily/ai-sdk)', setting: 'apiBaseURL', value: ORIGIN },
    ...{ client: 'aiSdk', call: 'tavilySearch as a tool' },
    check: ({ results }, { page }) => assert.equal(results[0].url, page),
  },
  {
    ...{ program: 'Vercel AI SDK (@tavily/ai-sdk)', setting: 'apiBaseURL', value: ORIGIN },
    ...{ client: 'aiSdk', call: 'tavilyExtract as a tool' },
    check: ({ results }) => assert.ok(results[0].rawContent.includes(PAGE_TEXT)),
  },
  {
    ...{ program: 'exa-js', setting: 'second argument', value: ORIGIN, client: 'exa', call: 'search' },
    check: ({ results }, { page }) => {
      assert.equal(results[0].url, page);
      assert.ok(results[0].text.includes(PAGE_TEXT));
    },
  },
  {
    ...{ program: 'exa-js', setting: 'second argument', value: ORIGIN, client: 'exa', call: 'getContents' },
    check: ({ results, statuses }) => {
      assert.ok(results[0].text.includes(PAGE_TEXT));
      assert.equal(statuses[0].status, 'success');
    },
  },
];

export const REQUEST_ROWS: readonly RequestRow[] = [
  ...FIRECRAWL_ROWS,
  ...MODEL_ROWS,
  ...DOCUMENT_ROWS,
  searxng('Open WebUI', 'SEARXNG_QUERY_URL', `${ORIGIN}/search`, {
    path: '/search?q=bees&format=json&pageno=1&safesearch=1&language=all&time_range=&categories=&theme=simple&image_proxy=0',
    headers: { accept: 'text/html', 'accept-encoding': 'gzip, deflate', 'accept-language': 'en-US,en;q=0.5' },
  }),
  {
    ...{ program: 'Open WebUI', setting: 'EXTERNAL_WEB_SEARCH_URL', value: `${ORIGIN}/openwebui/search` },
    call: 'search',
    request: (facts) => ({
      ...{ method: 'POST', path: '/openwebui/search', headers: bearer(facts) },
      body: JSON.stringify({ query: 'bees', count: 3 }),
    }),
    check: (answer, { page }) => assert.equal(answer[0].link, page),
  },
  {
    ...{ program: 'Open WebUI', setting: 'EXTERNAL_WEB_LOADER_URL', value: `${ORIGIN}/openwebui/loader` },
    call: 'web loader',
    request: (facts) => ({
      ...{ method: 'POST', path: '/openwebui/loader', headers: bearer(facts) },
      body: JSON.stringify({ urls: [facts.page] }),
    }),
    check: ([first], { page }) => {
      assert.ok(first.page_content.includes(PAGE_TEXT));
      assert.equal(first.metadata.source, page);
    },
  },
  {
    ...{ program: 'Open WebUI', setting: 'EXTERNAL_DOCUMENT_LOADER_URL', value: ORIGIN, call: 'document loader' },
    request: ({ key }) => ({
      ...{ method: 'PUT', path: '/process', body: 'name,age\nAda,36\n' },
      headers: { authorization: `Bearer ${key}`, 'content-type': 'text/csv', 'x-filename': 'people.csv' },
    }),
    check: (answer) => assert.match([answer].flat()[0].page_content, /Ada/),
  },
  {
    ...{ program: 'LibreChat', setting: 'SEARXNG_INSTANCE_URL', value: ORIGIN, call: 'search' },
    request: ({ key }) => ({
      path: '/search?q=bees&format=json&pageno=1&categories=general&language=all&safesearch=0&engines=google,bing,duckduckgo',
      headers: { ...JSON_TYPE, 'x-api-key': key },
    }),
    check: isSearxngList,
  },
  {
    ...{ program: 'LibreChat', setting: 'TAVILY_SEARCH_URL', value: `${ORIGIN}/search`, call: 'search' },
    request: (facts) => ({
      ...{ method: 'POST', path: '/search', headers: bearer(facts) },
      body: JSON.stringify({ query: 'bees', max_results: 5, search_depth: 'basic', topic: 'general' }),
    }),
    check: ({ results }, { page }) => assert.equal(results[0].url, page),
  },
  {
    ...{ program: 'LibreChat', setting: 'TAVILY_EXTRACT_URL', value: `${ORIGIN}/extract`, call: 'extract' },
    request: (facts) => ({
      ...{ method: 'POST', path: '/extract', headers: bearer(facts) },
      body: JSON.stringify({ urls: [facts.page], extract_depth: 'basic', include_images: false, format: 'markdown' }),
    }),
    check: ({ results }, { page }) => {
      assert.equal(results[0].url, page);
      assert.ok(results[0].raw_content.includes(PAGE_TEXT));
    },
  },
  {
    ...{ program: 'LibreChat', setting: 'SERPER_SCRAPE_URL', value: `${ORIGIN}/for/serper/scrape`, call: 'scrape' },
    request: ({ key, page }) => ({
      ...{ method: 'POST', path: '/for/serper/scrape', headers: { ...JSON_TYPE, 'x-api-key': key } },
      body: JSON.stringify({ url: page, includeMarkdown: true }),
    }),
    check: ({ text, markdown }) => {
      assert.ok(text.includes(PAGE_TEXT));
      assert.ok(markdown.includes(PAGE_TEXT));
    },
  },
  searxng('AnythingLLM', 'AGENT_SEARXNG_API_URL', `${ORIGIN}/search`, {
    path: '/search?q=bees&format=json',
    headers: { ...JSON_TYPE, 'user-agent': 'anything-llm' },
  }),
  searxng('Dify', 'SearXNG base URL', `${ORIGIN}/search`, {
    path: '/search?q=bees&format=json&categories=general&time_range=day',
  }),
  searxng('n8n', 'API URL of the SearXNG credential', ORIGIN, {
    ...{ method: 'POST', path: '/search?q=bees&numResults=10&pageNumber=1&language=en&safesearch=0&format=json' },
    headers: JSON_TYPE,
  }),
  searxng('Flowise', 'SearXNG base URL', ORIGIN, {
    ...{ method: 'POST', path: '/search?q=bees&format=json' },
    headers: JSON_TYPE,
  }),
  searxng('RAGFlow', 'SearXNG URL', ORIGIN, {
    path: '/search?q=bees&format=json&categories=general&language=auto&safesearch=1&pageno=1',
  }),
  searxng('LobeChat', 'SEARXNG_URL', ORIGIN, { path: '/search?format=json&q=bees' }),
  searxng('Perplexica', 'SEARXNG_API_URL', ORIGIN, { path: '/search?format=json&q=bees&engines=wolframalpha' }),
  {
    ...{ program: 'khoj', setting: 'EXA_API_URL', value: ORIGIN, call: 'contents' },
    request: ({ key, page }) => ({
      ...{ method: 'POST', path: '/contents', headers: { ...JSON_TYPE, 'x-api-key': key } },
      body: JSON.stringify({ urls: [page], text: true, livecrawl: 'fallback', livecrawlTimeout: 15_000 }),
    }),
    check: ({ results }) => assert.ok(results[0].text.includes(PAGE_TEXT)),
  },
  searxng('gpt-researcher', 'SEARX_URL', ORIGIN, {
    path: '/search?q=bees&format=json',
    headers: { accept: 'application/json' },
  }),
  searxng('agno', 'host of Searxng', ORIGIN, { path: '/search?format=json&q=bees' }),
  {
    ...{ program: 'agno', setting: 'TAVILY_API_BASE_URL', value: ORIGIN, call: 'search' },
    request: (facts) => ({
      ...{ method: 'POST', path: '/search', headers: bearer(facts) },
      body: JSON.stringify({ query: 'bees', search_depth: 'advanced', max_results: 5, include_answer: true }),
    }),
    check: ({ results }, { page }) => assert.equal(results[0].url, page),
  },
  {
    ...{ program: 'CrewAI', setting: 'base_url of SerperDevTool', value: ORIGIN, call: 'search' },
    request: ({ key }) => ({
      ...{ method: 'POST', path: '/search', headers: { ...JSON_TYPE, 'x-api-key': key } },
      body: JSON.stringify({ q: 'bees', num: 10 }),
    }),
    check: ({ organic }, { page }) => assert.equal(organic[0].link, page),
  },
];

/** The rows of the page, by program. */
export const USE_WITH: readonly (Row & { readonly byClient: boolean })[] = [
  ...[...CLIENT_ROWS, ...TESTED_ROWS].map((row) => ({ ...row, byClient: true })),
  ...REQUEST_ROWS.map((row) => ({ ...row, byClient: false })),
].toSorted((a, b) => a.program.localeCompare(b.program, 'en', { sensitivity: 'base' }));
