import { expect, it } from 'vitest';
import { toSearchFields } from './to-search.ts';

const NOW = Date.parse('2026-06-15T12:00:00Z');
const given = (query: Parameters<typeof toSearchFields>[0]) => toSearchFields(query, ['brave', 'wikipedia'], NOW).given;

it('maps page, language, region and time range', () => {
  expect(given({ q: 'bees', pageno: 3, language: 'de-AT', time_range: 'week' })).toMatchObject({
    q: 'bees',
    page: 3,
    hl: 'de',
    gl: 'at',
    since: '2026-06-08',
    respondWith: 'no-content',
  });
});

it('takes pageNumber for pageno, and no language for auto', () => {
  expect(given({ q: 'bees', pageNumber: 2, language: 'auto' })).toMatchObject({ page: 2 });
  expect(given({ q: 'bees', language: 'all' })).not.toHaveProperty('hl');
});

it('selects one provider of this server, and sites of engines that search a site', () => {
  expect(given({ q: 'bees', engines: ['wikipedia'] })).toMatchObject({ provider: 'wikipedia' });
  expect(given({ q: 'bees', engines: ['reddit'] })).toMatchObject({ site: ['reddit.com'] });
  expect(given({ q: 'bees', engines: ['google', 'brave', 'wikipedia'] })).not.toHaveProperty('provider');
});

it('reads a category and a language before the query, and leaves other exclamation marks', () => {
  expect(given({ q: '!news :de bees' })).toMatchObject({ q: 'bees', type: 'news', hl: 'de' });
  expect(given({ q: '!important' })).toMatchObject({ q: '!important', type: 'web' });
});
