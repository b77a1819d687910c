/**
 * Example requests and responses for the OpenAPI document of the search host. The responses were recorded from a
 * server.
 */
import { exampleEvent } from '../openapi/event-text.ts';
import { INDEX_ANSWER as READER_INDEX } from '../reader/examples.ts';

export const SEARCH_EXAMPLES = {
  query: { summary: 'A query', value: { q: 'how bees find home', num: 1 } },
  site: { summary: 'On one site, in one language', value: { q: 'bees', num: 1, site: ['example.com'], hl: 'en' } },
};

const CONTENT = '# How bees find home\n\nBees find their way home by the sun.';
const RESULT = {
  title: 'How bees find home',
  url: 'https://example.com/',
  description: 'Bees use the sun.',
  content: CONTENT,
  targetStatus: 200,
  metadata: {
    lang: 'en',
    description: 'Bees use the sun.',
    'lectern:language': 'en',
    'lectern:extraction': '2-76d8aa51',
    'lectern:kind': 'home',
    'lectern:kindConfidence': '0.50',
    'lectern:engine': 'direct',
    'lectern:engineReason': 'no browser is available',
  },
  external: { icon: { 'https://example.com/icon.png': {} } },
  usage: { tokens: 10_000 },
};

export const RESULTS_ANSWER = { code: 200, status: 20_000, data: [RESULT], meta: { usage: { tokens: 10_000 } } };
export const RESULTS_TEXT = `[1] Title: ${RESULT.title}\n[1] URL Source: ${RESULT.url}\n[1] Description: ${RESULT.description}\n\n${CONTENT}\n`;
export const RESULTS_EVENTS = exampleEvent('data', [RESULT]);
export const INDEX_ANSWER = READER_INDEX;
