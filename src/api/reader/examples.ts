/** Example requests and responses for the OpenAPI document of the reader. The responses were recorded from a server. */
import { exampleEvent } from '../openapi/event-text.ts';

export const READ_EXAMPLES = {
  html: {
    summary: 'Convert HTML',
    value: { url: 'https://example.com/', html: '<h1>Tides</h1><p>The sea rises <b>twice</b> a day.</p>' },
  },
  url: { summary: 'Read a URL', value: { url: 'https://example.com/' } },
  format: {
    summary: 'Choose format and links',
    value: { respondWith: 'markdown', retainLinks: 'none', url: 'https://example.com/' },
  },
};

const CONTENT = '# Tides\n\nThe sea rises **twice** a day.';

export const EXAMPLE_PAGE = {
  title: 'Tides',
  description: '',
  url: 'https://example.com/',
  content: CONTENT,
  metadata: {
    'lectern:extraction': '2-76d8aa51',
    'lectern:kind': 'home',
    'lectern:kindConfidence': '0.50',
    'lectern:engine': 'given',
    'lectern:engineReason': 'it came with the request',
  },
  usage: { tokens: 14 },
};

export const PAGE_ANSWER = { code: 200, status: 20_000, data: EXAMPLE_PAGE, meta: { usage: { tokens: 14 } } };
export const PAGE_TEXT = `Title: Tides\n\nURL Source: https://example.com/\n\nMarkdown Content:\n${CONTENT}\n`;
export const PAGE_EVENTS = exampleEvent('data', EXAMPLE_PAGE);

export const INDEX_ANSWER = {
  code: 200,
  status: 20_000,
  data: {
    usage1: 'https://reader.example/YOUR_URL',
    usage2: 'https://search.example/YOUR_SEARCH_QUERY',
    homepage: 'https://reader.example/docs',
    authenticatedAs: 'first key',
    balanceLeft: 'unlimited',
  },
  meta: { usage: { tokens: 0 } },
};
